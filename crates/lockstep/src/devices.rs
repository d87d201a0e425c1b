//! Several devices, and access to each other's memory.
//!
//! A pointer to memory of one device can be given to kernels on another, which may use it once
//! [`Device::enable_peer`] has been called: on a GPU over NVLink or PCI Express, on the simulator as if
//! over such a link. Launches on several devices that wait for each other are made by
//! [`Together`](crate::Together).

use crate::device::absence;
use crate::engine::sim::Sim;
use crate::engine::{EngineError, Machine};
use crate::{Device, Error, Simulator};

/// Names how many simulators stand in for missing GPUs.
const N_SIMULATORS: &str = "LOCKSTEP_SIM_DEVICES";

impl Device {
    /// All GPUs, or, if there are none, as many simulators as the environment variable
    /// `LOCKSTEP_SIM_DEVICES` says: one if it is not set.
    ///
    /// # Errors
    ///
    /// A GPU cannot be used, or the variable is not a number from 1 to 8.
    pub fn all() -> Result<Vec<Self>, Error> {
        match cuda_driver::load()
            .map_err(EngineError::from)
            .and_then(n_gpus)
        {
            Ok(n) if n > 0 => (0..n).map(Self::gpu).collect(),
            Ok(_) => Self::instead("the driver sees no GPU"),
            Err(error) => Self::instead(&absence(error)?),
        }
    }

    /// Simulators in place of GPUs.
    fn instead(why: &str) -> Result<Vec<Self>, Error> {
        let n = match std::env::var(N_SIMULATORS) {
            Err(_) => 1,
            Ok(text) => {
                let n = text
                    .parse()
                    .ok()
                    .filter(|n| (1..=ptx_sim::MAX_DEVICES).contains(n));
                n.ok_or_else(|| {
                    EngineError::Devices(format!(
                        "{N_SIMULATORS} is `{text}`, but must be a number from 1 to {}",
                        ptx_sim::MAX_DEVICES
                    ))
                })?
            }
        };
        Ok(Self::of_machine(n, Simulator::default(), why))
    }

    /// The devices of a new simulated machine, numbered from 0.
    ///
    /// ```
    /// let devices = lockstep::Device::simulators(2);
    /// devices[0].enable_peer(&devices[1])?;
    /// # Ok::<(), lockstep::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// There are to be more than 8.
    pub fn simulators(n: usize) -> Vec<Self> {
        Self::simulators_with(n, Simulator::default())
    }

    /// The same with these settings.
    ///
    /// # Panics
    ///
    /// As [`Device::simulators`].
    pub fn simulators_with(n: usize, settings: Simulator) -> Vec<Self> {
        Self::of_machine(n, settings, "requested")
    }

    fn of_machine(n: usize, settings: Simulator, why: &str) -> Vec<Self> {
        let sims = Sim::several(n).into_iter().enumerate();
        sims.map(|(number, sim)| Self::of_simulator(sim, settings, number, why))
            .collect()
    }

    /// Whether its kernels can be given access to the memory of another device.
    ///
    /// # Errors
    ///
    /// The GPU is lost.
    pub fn can_access_peer(&self, peer: &Self) -> Result<bool, Error> {
        match (self.machine(), peer.machine()) {
            _ if self.is_same(peer) => Ok(false),
            (Machine::Gpu(gpu), Machine::Gpu(peer)) => gpu.can_access_peer(peer),
            (Machine::Sim(sim), Machine::Sim(peer)) => Ok(sim.is_beside(peer)),
            _ => Ok(false),
        }
    }

    /// Gives its kernels access to the memory of another device: in this direction only, and for
    /// memory allocated later, too. It does not matter if they already have it.
    ///
    /// # Errors
    ///
    /// They cannot have it: the devices are one and the same, a GPU and a
    /// simulator, simulators that were not made together, or GPUs without a link.
    pub fn enable_peer(&self, peer: &Self) -> Result<(), Error> {
        self.set_peer(peer, true)
    }

    /// The opposite of [`Device::enable_peer`].
    ///
    /// # Errors
    ///
    /// They did not have access.
    pub fn disable_peer(&self, peer: &Self) -> Result<(), Error> {
        self.set_peer(peer, false)
    }

    fn set_peer(&self, peer: &Self, may: bool) -> Result<(), Error> {
        let refused = |why: &str| {
            let (own, other) = (self.number(), peer.number());
            Err(EngineError::Devices(format!(
                "device {own} has no access to the memory of device {other}: {why}"
            )))
        };
        match (self.machine(), peer.machine()) {
            _ if self.is_same(peer) => refused("they are one and the same"),
            (Machine::Gpu(gpu), Machine::Gpu(peer)) => {
                if !gpu.can_access_peer(peer)? {
                    return refused("the GPUs have no link that allows it; copy through the host");
                }
                gpu.set_peer(peer, may)
            }
            (Machine::Sim(sim), Machine::Sim(peer)) => {
                if !sim.is_beside(peer) {
                    return refused("make both together, by `Device::simulators`");
                }
                sim.set_peer(peer, may)
            }
            _ => refused("one is a GPU, the other a simulator"),
        }
    }
}

fn n_gpus(driver: cuda_driver::Driver) -> Result<usize, EngineError> {
    driver.init()?;
    Ok(driver.devices()?.len())
}
