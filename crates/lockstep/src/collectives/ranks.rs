//! Processes that work together: which one this is, and how they meet.
//!
//! Rank 0 listens on a TCP port, where every other rank asks for NCCL's identifier. The connections
//! stay open, so that the end of a process is noticed, which NCCL does not do on one machine: its
//! kernels would wait forever.

use super::library::{UniqueId, failed};
use crate::Error;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

/// How long ranks wait for each other at the start, unless the environment says otherwise.
const PATIENCE: Duration = Duration::from_secs(60);
/// The port, if none is given: the one that `torchrun` uses as well.
const PORT: u16 = 29500;
/// Sent by a rank that needs the others no more.
const GOODBYE: u8 = 0xFF;
/// What a rank says first, before its number.
const GREETING: [u8; 4] = *b"lstp";

/// Which of several processes this is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranks {
    /// Its number, from 0.
    pub rank: usize,
    /// How many there are.
    pub n_ranks: usize,
    /// Its number among those on the same machine: the device to use.
    pub local_rank: usize,
    /// Where rank 0 listens: host and port.
    pub address: (String, u16),
    /// How long to wait for the others at the start.
    pub patience: Duration,
}

impl Ranks {
    /// As `mpirun`, `srun`, `torchrun` or a script says it, by the environment variables `RANK`,
    /// `WORLD_SIZE` and `LOCAL_RANK`, or those of Open MPI, MPICH or Slurm, and by `MASTER_ADDR`
    /// (this machine, if not set) and `MASTER_PORT` (29500). `LOCKSTEP_RENDEZVOUS_S` is how many
    /// seconds ranks wait for each other (60). `None` if nothing says that there are several
    /// processes.
    ///
    /// # Errors
    ///
    /// A variable is not a number, or the rank is not below the number of ranks.
    pub fn from_env() -> Result<Option<Self>, Error> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    fn from_variables(value: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, Error> {
        let number = |names: &[&str]| -> Result<Option<u64>, Error> {
            let Some((name, text)) = names.iter().find_map(|name| Some((name, value(name)?)))
            else {
                return Ok(None);
            };
            let parsed = text.trim().parse().map(Some);
            parsed.map_err(|_| failed(format!("{name} is `{text}`, which is not a number")))
        };
        let rank = number(&["RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"])?;
        let n_ranks = number(&[
            "WORLD_SIZE",
            "OMPI_COMM_WORLD_SIZE",
            "PMI_SIZE",
            "SLURM_NTASKS",
        ])?;
        let (Some(rank), Some(n_ranks)) = (rank, n_ranks) else {
            return match rank.or(n_ranks) {
                None => Ok(None),
                Some(_) => Err(failed(
                    "RANK and WORLD_SIZE must both be set, or neither".to_owned(),
                )),
            };
        };
        if rank >= n_ranks {
            return Err(failed(format!(
                "rank {rank} of {n_ranks}: ranks are numbered from 0"
            )));
        }
        let local = number(&[
            "LOCAL_RANK",
            "OMPI_COMM_WORLD_LOCAL_RANK",
            "MPI_LOCALRANKID",
            "SLURM_LOCALID",
        ])?;
        let port = number(&["MASTER_PORT"])?.unwrap_or(PORT.into());
        let port = u16::try_from(port).map_err(|_| failed(format!("MASTER_PORT is {port}")))?;
        let host = value("MASTER_ADDR").unwrap_or_else(|| "127.0.0.1".to_owned());
        let patience = number(&["LOCKSTEP_RENDEZVOUS_S"])?.map(Duration::from_secs);
        Ok(Some(Self {
            rank: rank as usize,
            n_ranks: n_ranks as usize,
            local_rank: local.unwrap_or(rank) as usize,
            address: (host, port),
            patience: patience.unwrap_or(PATIENCE),
        }))
    }
}

/// The connections to other ranks: rank 0 has one to each, the others have one to rank 0.
pub(super) struct Peers {
    links: Vec<Link>,
}

struct Link {
    rank: usize,
    stream: TcpStream,
    has_left: bool,
}

impl Peers {
    /// Meets all ranks; rank 0 makes the identifier, which all get.
    pub fn meet(
        ranks: &Ranks,
        make: impl FnOnce() -> Result<UniqueId, Error>,
    ) -> Result<(Self, UniqueId), Error> {
        let deadline = Instant::now() + ranks.patience;
        match ranks.rank {
            0 => {
                let id = make()?;
                let links = listen(ranks, deadline, &id)?;
                Ok((Self { links }, id))
            }
            _ => {
                let (stream, id) = ask(ranks, deadline)?;
                let link = Link {
                    rank: 0,
                    stream,
                    has_left: false,
                };
                Ok((Self { links: vec![link] }, id))
            }
        }
    }

    /// A rank that has ended without having said that it needs the others no more.
    pub fn lost(&mut self) -> Option<usize> {
        let mut lost = None;
        for link in self.links.iter_mut().filter(|link| !link.has_left) {
            let mut byte = [0];
            match link.stream.read(&mut byte) {
                Ok(1) if byte[0] == GOODBYE => link.has_left = true,
                // Rank 0 passes on which rank has ended.
                Ok(1) => lost = lost.or(Some(usize::from(byte[0]))),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                _ => {
                    link.has_left = true;
                    lost = lost.or(Some(link.rank));
                }
            }
        }
        if let Some(lost) = lost {
            self.tell(lost as u8);
        }
        lost
    }

    /// Says something to all that are still there.
    fn tell(&mut self, byte: u8) {
        for link in self.links.iter_mut().filter(|link| !link.has_left) {
            let _ = link.stream.write_all(&[byte]);
        }
    }
}

impl Drop for Peers {
    fn drop(&mut self) {
        // Others must not wait for a rank that has failed.
        if !std::thread::panicking() {
            self.tell(GOODBYE);
        }
    }
}

/// Rank 0 waits for the others, and gives each the identifier.
fn listen(ranks: &Ranks, deadline: Instant, id: &UniqueId) -> Result<Vec<Link>, Error> {
    let (host, port) = &ranks.address;
    let at = format!("{host}:{port}");
    let cannot = |error: std::io::Error| failed(format!("rank 0 cannot listen at {at}: {error}"));
    let listener = TcpListener::bind((host.as_str(), *port)).map_err(cannot)?;
    listener.set_nonblocking(true).map_err(cannot)?;
    let mut links: Vec<Link> = Vec::new();
    while links.len() + 1 < ranks.n_ranks {
        match listener.accept() {
            Ok((stream, _)) => {
                if let Some(link) = greeted(stream, ranks, &links, id)? {
                    links.push(link);
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                if Instant::now() > deadline {
                    let has_come = |rank: &usize| links.iter().any(|link| link.rank == *rank);
                    let missing = (1..ranks.n_ranks).filter(|rank| !has_come(rank));
                    let missing: Vec<_> = missing.map(|rank| rank.to_string()).collect();
                    return Err(failed(format!(
                        "of {} ranks, these did not come to rank 0 at {at} within {} s: {}",
                        ranks.n_ranks,
                        ranks.patience.as_secs(),
                        missing.join(", ")
                    )));
                }
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(error) => return Err(cannot(error)),
        }
    }
    Ok(links)
}

/// A connection, if it is another rank's.
fn greeted(
    mut stream: TcpStream,
    ranks: &Ranks,
    links: &[Link],
    id: &UniqueId,
) -> Result<Option<Link>, Error> {
    let mut said = [0; 12];
    let heard = stream
        .set_nonblocking(false)
        .and_then(|()| stream.set_read_timeout(Some(Duration::from_secs(5))))
        .and_then(|()| stream.read_exact(&mut said));
    let number = |from: usize| {
        let bytes = said[from..from + 4].try_into().expect("four bytes");
        u32::from_le_bytes(bytes) as usize
    };
    // Whoever else connects to the port is not of interest.
    if heard.is_err() || said[..4] != GREETING {
        return Ok(None);
    }
    let (rank, n_ranks) = (number(4), number(8));
    if n_ranks != ranks.n_ranks {
        return Err(failed(format!(
            "rank {rank} was started as one of {n_ranks} ranks, and rank 0 as one of {}",
            ranks.n_ranks
        )));
    }
    if rank == 0 || links.iter().any(|link| link.rank == rank) {
        return Err(failed(format!("two processes were started as rank {rank}")));
    }
    let sent = stream
        .write_all(&id.0)
        .and_then(|()| stream.set_nonblocking(true));
    sent.map_err(|error| failed(format!("rank {rank} went away at once: {error}")))?;
    Ok(Some(Link {
        rank,
        stream,
        has_left: false,
    }))
}

/// Another rank asks rank 0 for the identifier.
fn ask(ranks: &Ranks, deadline: Instant) -> Result<(TcpStream, UniqueId), Error> {
    let (host, port) = &ranks.address;
    let seconds = ranks.patience.as_secs();
    loop {
        match connect((host, *port), ranks) {
            Ok(met) => return Ok(met),
            Err(error) if Instant::now() > deadline => {
                return Err(failed(format!(
                    "rank 0 did not answer rank {} at {host}:{port} within {seconds} s ({error}): \
                     MASTER_ADDR and MASTER_PORT must name a port on rank 0's machine",
                    ranks.rank
                )));
            }
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

fn connect(at: (&String, u16), ranks: &Ranks) -> std::io::Result<(TcpStream, UniqueId)> {
    let mut addresses = (at.0.as_str(), at.1).to_socket_addrs()?;
    let first = addresses.next().ok_or(ErrorKind::AddrNotAvailable)?;
    let mut stream = TcpStream::connect_timeout(&first, Duration::from_secs(5))?;
    let mut greeting = GREETING.to_vec();
    greeting.extend_from_slice(&(ranks.rank as u32).to_le_bytes());
    greeting.extend_from_slice(&(ranks.n_ranks as u32).to_le_bytes());
    stream.write_all(&greeting)?;
    stream.set_read_timeout(Some(ranks.patience.max(Duration::from_secs(1))))?;
    let mut id = UniqueId([0; UniqueId::SIZE]);
    stream.read_exact(&mut id.0)?;
    stream.set_nonblocking(true)?;
    Ok((stream, id))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Option<Ranks>, Error> {
        let value = |name: &str| {
            let found = variables.iter().find(|(n, _)| *n == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Ranks::from_variables(value)
    }

    #[test]
    fn variables_of_several_launchers_are_understood() {
        let of = |variables: &[(&str, &str)]| {
            let ranks = read(variables).expect("right").expect("several");
            (ranks.rank, ranks.n_ranks, ranks.local_rank, ranks.address)
        };
        let local = |port| ("127.0.0.1".to_owned(), port);
        let plain = [("RANK", "1"), ("WORLD_SIZE", "4"), ("MASTER_PORT", "1234")];
        assert_eq!(of(&plain), (1, 4, 1, local(1234)));
        let mpi = [
            ("OMPI_COMM_WORLD_RANK", "9"),
            ("OMPI_COMM_WORLD_SIZE", "16"),
            ("OMPI_COMM_WORLD_LOCAL_RANK", "1"),
            ("MASTER_ADDR", "node0"),
        ];
        assert_eq!(of(&mpi), (9, 16, 1, ("node0".to_owned(), PORT)));
        assert_eq!(read(&[]).expect("nothing is wrong"), None);
        for wrong in [
            &[("RANK", "x"), ("WORLD_SIZE", "2")][..],
            &[("RANK", "2"), ("WORLD_SIZE", "2")],
            &[("RANK", "0")],
            &[("RANK", "0"), ("WORLD_SIZE", "1"), ("MASTER_PORT", "99999")],
        ] {
            read(wrong).expect_err("wrong");
        }
    }

    fn ranks(rank: usize, n_ranks: usize, port: u16, patience_ms: u64) -> Ranks {
        Ranks {
            rank,
            n_ranks,
            local_rank: rank,
            address: ("127.0.0.1".to_owned(), port),
            patience: Duration::from_millis(patience_ms),
        }
    }

    fn free_port() -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
        listener.local_addr().expect("it is bound").port()
    }

    #[test]
    fn all_get_the_identifier_and_the_end_of_one_is_told_to_all() {
        let port = free_port();
        let id = UniqueId([7; UniqueId::SIZE]);
        let join = |rank| {
            std::thread::spawn(move || {
                let met = Peers::meet(&ranks(rank, 3, port, 5000), || Ok(UniqueId([7; 128])));
                met.expect("all come")
            })
        };
        let [mut zero, mut one, two] = [join(0), join(1), join(2)].map(|thread| {
            let (peers, got) = thread.join().expect("it ends");
            assert_eq!(got.0, id.0);
            peers
        });
        assert_eq!((zero.lost(), one.lost()), (None, None));
        // It is killed: nothing is said.
        let [link] = <[Link; 1]>::try_from(std::mem::take(&mut { two }.links))
            .ok()
            .expect("one");
        drop(link);
        let until = |peers: &mut Peers| {
            let started = Instant::now();
            loop {
                if let Some(lost) = peers.lost() {
                    return lost;
                }
                assert!(
                    started.elapsed() < Duration::from_secs(5),
                    "nothing was noticed"
                );
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        assert_eq!((until(&mut zero), until(&mut one)), (2, 2));
    }

    #[test]
    fn a_rank_that_leaves_is_not_lost() {
        let port = free_port();
        let other = std::thread::spawn(move || {
            let met = Peers::meet(&ranks(1, 2, port, 5000), || unreachable!());
            drop(met.expect("both come"));
        });
        let (mut zero, _) =
            Peers::meet(&ranks(0, 2, port, 5000), || Ok(UniqueId([1; 128]))).expect("both come");
        other.join().expect("it ends");
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(zero.lost(), None);
    }

    #[test]
    fn who_does_not_come_is_named() {
        let id = || Ok(UniqueId([0; 128]));
        let error = Peers::meet(&ranks(0, 3, free_port(), 50), id)
            .err()
            .expect("nobody comes");
        assert!(error.to_string().ends_with("1, 2"), "{error}");
        let error = Peers::meet(&ranks(2, 3, free_port(), 50), id)
            .err()
            .expect("nobody is there");
        assert!(
            error.to_string().contains("rank 0 did not answer rank 2"),
            "{error}"
        );
    }
}
