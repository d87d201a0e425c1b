//! Bulk copies: `cp.async.bulk`, `cp.reduce.async.bulk`, `prefetch.tensormap`, `st.bulk`.

use crate::program::{
    AddressOperand, AtomicKind, AtomicType, BulkCopy, BulkOp, BulkReduction, Direction, Op, Signal,
    Slot, TileCopy,
};
use ptx::ir::{Address, Operand, Space, Type};

use super::atomic::KINDS;
use super::decoder::{Decoded, Decoder};
use super::opcode::Opcode;
use super::operand::{immediate, one};

const SHARED_CTA: &[&str] = &["shared::cta", "shared"];
const SHARED: &[&str] = &["shared::cluster", "shared::cta", "shared"];

impl Decoder<'_> {
    fn bulk(&mut self, op: BulkOp) {
        self.emit(Op::Bulk(Box::new(op)));
    }

    /// `cp.async.bulk…`, `cp.reduce.async.bulk…`
    pub fn bulk_copy(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let reduces = op.take("reduce");
        if !op.take("async") || !op.take("bulk") {
            return Err("the instruction is not known".to_owned());
        }
        if op.take("commit_group") {
            self.bulk(BulkOp::Commit);
            return Ok(());
        }
        if op.take("wait_group") {
            let reads_only = op.take("read");
            let n_left = immediate(one(operands)?, Type::U32)? as u32;
            self.bulk(BulkOp::Wait { n_left, reads_only });
            return Ok(());
        }
        if op.take("prefetch") {
            return self.bulk_prefetch(op, operands);
        }
        if op.take("tensor") {
            return self.tile_copy(op, operands, reduces);
        }
        let direction = take_direction(op)?;
        let (operands, multicast) = self.split_hints(op, operands)?;
        let reduction = reduces.then(|| take_reduction(op)).transpose()?;
        let (to, from, bytes, barrier) = match (operands, direction) {
            ([to, from, bytes], Direction::SharedToGlobal) => (to, from, bytes, None),
            ([_, ..], Direction::SharedToGlobal) => {
                return Err("it takes two addresses and a size".to_owned());
            }
            ([to, from, bytes, barrier], _) => (to, from, bytes, Some(barrier)),
            _ => return Err("it takes two addresses, a size and a barrier".to_owned()),
        };
        let (to_space, from_space) = match direction {
            Direction::GlobalToShared => (Space::Shared, Space::Global),
            Direction::SharedToGlobal => (Space::Global, Space::Shared),
            Direction::SharedToShared => (Space::Shared, Space::Shared),
        };
        let to = self.address(to, to_space)?.0;
        let from = self.address(from, from_space)?.0;
        let bytes = self.source(bytes, Type::U32)?;
        let signal = barrier.map(|barrier| self.signal(barrier, multicast));
        let signal = signal.transpose()?;
        self.bulk(BulkOp::Copy(BulkCopy {
            direction,
            to,
            from,
            bytes,
            signal,
            reduction,
        }));
        Ok(())
    }

    fn signal(&mut self, barrier: &Operand, multicast: Option<Slot>) -> Decoded<Signal> {
        let (barrier, _) = self.address(barrier, Space::Shared)?;
        Ok(Signal { barrier, multicast })
    }

    /// Takes the modifiers that add operands after the others, and those operands: a cache
    /// policy, which has no effect, and the blocks that a copy goes to.
    fn split_hints<'o>(
        &mut self,
        op: &mut Opcode<'_>,
        operands: &'o [Operand],
    ) -> Decoded<(&'o [Operand], Option<Slot>)> {
        let missing = || "an operand is missing".to_owned();
        let mut left = operands;
        if op.take("L2::cache_hint") {
            let (policy, rest) = left.split_last().ok_or_else(missing)?;
            self.source(policy, Type::B64)?;
            left = rest;
        }
        let mut multicast = None;
        if op.take("multicast::cluster") {
            let (blocks, rest) = left.split_last().ok_or_else(missing)?;
            multicast = Some(self.source(blocks, Type::U16)?);
            left = rest;
        }
        Ok((left, multicast))
    }

    /// `cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor`
    fn tile_copy(
        &mut self,
        op: &mut Opcode<'_>,
        operands: &[Operand],
        reduces: bool,
    ) -> Decoded<()> {
        let rank = take_rank(op)?;
        let direction = take_direction(op)?;
        take_tile_mode(op)?;
        let (operands, multicast) = self.split_hints(op, operands)?;
        let reduction = reduces.then(|| take_reduction_kind(op)).transpose()?;
        let (shared, tensor, barrier) = match (operands, direction) {
            ([tensor, shared], Direction::SharedToGlobal) => (shared, tensor, None),
            ([shared, tensor, barrier], Direction::GlobalToShared) if !reduces => {
                (shared, tensor, Some(barrier))
            }
            _ => {
                return Err(
                    "it takes `[shared], [map, {coordinates}], [barrier]` to shared memory, and \
                     `[map, {coordinates}], [shared]` to global memory"
                        .to_owned(),
                );
            }
        };
        let (map, coordinates) = self.tile_of_tensor(tensor, rank)?;
        let shared = self.address(shared, Space::Shared)?.0;
        let signal = barrier.map(|barrier| self.signal(barrier, multicast));
        let signal = signal.transpose()?;
        self.bulk(BulkOp::Tile(TileCopy {
            shared,
            map,
            coordinates,
            signal,
            reduction,
        }));
        Ok(())
    }

    /// `[map, {x, y}]`
    fn tile_of_tensor(
        &mut self,
        operand: &Operand,
        rank: usize,
    ) -> Decoded<(AddressOperand, Vec<Slot>)> {
        let Operand::IndexedAddress(map, coordinates) = operand else {
            self.blame(operand);
            return Err("it takes a tensor map with coordinates: `[map, {x, y}]`".to_owned());
        };
        let coordinates = match &coordinates[..] {
            [Operand::Vector(coordinates)] => coordinates,
            all => all,
        };
        if coordinates.len() != rank {
            self.blame(operand);
            return Err(format!(
                "{} coordinates for {rank} dimensions",
                coordinates.len()
            ));
        }
        let slots = coordinates.iter().map(|c| self.source(c, Type::S32));
        let slots = slots.collect::<Decoded<Vec<Slot>>>()?;
        Ok((self.map_address(map)?, slots))
    }

    /// A tensor map lies in parameters, constants or global memory.
    fn map_address(&mut self, map: &Address) -> Decoded<AddressOperand> {
        let (address, space) = self.address(&Operand::Address(map.clone()), Space::Generic)?;
        match space {
            Space::Generic | Space::Global | Space::Const => Ok(address),
            _ => Err(
                "a tensor map lies in a kernel's parameters, in constant or in global memory"
                    .to_owned(),
            ),
        }
    }

    /// `cp.async.bulk.prefetch.L2`, `cp.async.bulk.prefetch.tensor`
    fn bulk_prefetch(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let rank = op.take("tensor").then(|| take_rank(op)).transpose()?;
        if !op.take("L2") || !op.take("global") {
            return Err("it fetches from .global into .L2".to_owned());
        }
        let (operands, _) = self.split_hints(op, operands)?;
        let Some(rank) = rank else {
            let [from, bytes] = operands else {
                return Err("it takes an address and a size".to_owned());
            };
            self.address(from, Space::Global)?;
            self.source(bytes, Type::U32)?;
            self.emit(Op::Nothing);
            return Ok(());
        };
        take_tile_mode(op)?;
        let (map, _) = self.tile_of_tensor(one(operands)?, rank)?;
        self.bulk(BulkOp::Prefetch { map, rank });
        Ok(())
    }

    /// `prefetch.tensormap`: a hint, even for a map that no copy will use.
    pub fn prefetch_map(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        op.ignore(&["tensormap", "param", "const"]);
        let Operand::Address(map) = one(operands)? else {
            return Err("it takes the address of a tensor map".to_owned());
        };
        self.map_address(map)?;
        self.emit(Op::Nothing);
        Ok(())
    }

    /// `st.bulk`
    pub fn bulk_store(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        op.ignore(&["weak", "bulk"]);
        let space = match op.take("shared::cta") || op.take("shared") {
            true => Space::Shared,
            false => Space::Generic,
        };
        let [address, bytes, value] = operands else {
            return Err("it takes an address, a size and 0".to_owned());
        };
        if *value != Operand::Int(0) {
            self.blame(value);
            return Err("it can only store 0".to_owned());
        }
        let address = self.shared_address(address, space)?;
        let bytes = match bytes {
            // The type is that of the register.
            Operand::Reg(register) if self.frame.type_of(*register).size_bytes() == 8 => {
                let wide = self.source(bytes, Type::U64)?;
                let narrow = self.frame.temporary(4);
                let run = crate::lanes::unary(|bytes: u64| bytes.min(u64::from(u32::MAX)) as u32);
                self.lanes(run, narrow, &[wide]);
                narrow
            }
            _ => self.source(bytes, Type::U32)?,
        };
        self.bulk(BulkOp::Zero { address, bytes });
        Ok(())
    }
}

/// Takes where a copy goes and where it comes from, and how it says that it is done.
fn take_direction(op: &mut Opcode<'_>) -> Decoded<Direction> {
    let take_any = |op: &mut Opcode<'_>, names: &[&str]| names.iter().any(|name| op.take(name));
    let is_signalled = op.take("mbarrier::complete_tx::bytes");
    let is_grouped = op.take("bulk_group");
    let first = op.first_of(&[&["global"], SHARED].concat());
    let first = first.ok_or("no state space given")?;
    op.take(first);
    Ok(if first == "global" {
        if !take_any(op, SHARED_CTA) {
            return Err("to .global it copies from .shared::cta".to_owned());
        }
        if !is_grouped {
            return Err("to .global it needs .bulk_group".to_owned());
        }
        Direction::SharedToGlobal
    } else {
        if !is_signalled {
            return Err("to shared memory it needs .mbarrier::complete_tx::bytes".to_owned());
        }
        if op.take("global") {
            Direction::GlobalToShared
        } else if take_any(op, SHARED_CTA) {
            Direction::SharedToShared
        } else {
            return Err("it copies from .global or .shared::cta".to_owned());
        }
    })
}

/// Takes `.2d`.
fn take_rank(op: &mut Opcode<'_>) -> Decoded<usize> {
    const RANKS: [&str; 5] = ["1d", "2d", "3d", "4d", "5d"];
    let rank = op.take_if(|part| RANKS.iter().position(|&rank| rank == part));
    Ok(rank.ok_or("no number of dimensions given")? + 1)
}

/// Takes `.tile`, and refuses other modes.
fn take_tile_mode(op: &mut Opcode<'_>) -> Decoded<()> {
    op.take("tile");
    for mode in [
        "im2col",
        "im2col_no_offs",
        "im2col::w",
        "im2col::w::128",
        "tile::gather4",
        "tile::scatter4",
    ] {
        if op.has(mode) {
            return Err(format!(
                "of the modes of tensor copies, only .tile is simulated, not .{mode}"
            ));
        }
    }
    Ok(())
}

fn take_reduction_kind(op: &mut Opcode<'_>) -> Decoded<AtomicKind> {
    let kind = op.choose(&KINDS[..8]);
    kind.ok_or_else(|| "no operation given".to_owned())
}

/// Takes operation and type.
fn take_reduction(op: &mut Opcode<'_>) -> Decoded<BulkReduction> {
    let kind = take_reduction_kind(op)?;
    op.take("noftz");
    let ty = op.ty()?;
    let atomic = match ty {
        Type::U32 | Type::U64 | Type::B32 | Type::B64 => AtomicType::Unsigned,
        Type::S32 | Type::S64 => AtomicType::Signed,
        Type::F16 => AtomicType::F16,
        Type::Bf16 => AtomicType::Bf16,
        Type::F32 => AtomicType::F32,
        Type::F64 => AtomicType::F64,
        _ => return Err(format!("it does not work on {ty}")),
    };
    let fits = match kind {
        AtomicKind::Add => !matches!(ty, Type::B32 | Type::B64 | Type::S64),
        AtomicKind::Min | AtomicKind::Max => {
            !matches!(ty, Type::B32 | Type::B64 | Type::F32 | Type::F64)
        }
        AtomicKind::Increment | AtomicKind::Decrement => ty == Type::U32,
        _ => matches!(ty, Type::B32 | Type::B64),
    };
    if !fits {
        return Err(format!("this operation has no form for {ty}"));
    }
    Ok(BulkReduction {
        kind,
        ty: atomic,
        bytes: ty.size_bytes(),
    })
}
