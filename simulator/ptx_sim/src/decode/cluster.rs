//! The cluster's shared memory: `mapa`, `getctarank`, `st.async`, `red.async`.

use crate::lanes::binary;
use crate::memory::address::{SHARED_WINDOW, map_generic_rank, map_rank, rank_of};
use crate::program::{AsyncStore, Init, Mbarrier, MbarrierKind, Op, Order, Scope, Slot, Update};
use ptx::ir::{Operand, Space, Special, Type};

use super::decoder::{Decoded, Decoder};
use super::modifiers::{take_cluster, take_vector};
use super::opcode::Opcode;

impl Decoder<'_> {
    /// The rank of the block that runs.
    pub fn own_rank(&mut self) -> Slot {
        self.frame.value(Init::Special {
            register: Special::ClusterCtarank,
            bytes: 4,
        })
    }

    /// `mapa`
    pub fn map_rank(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        self.maps_ranks = true;
        let in_cluster = take_cluster(op);
        let ty = op.ty()?;
        let [d, a, rank] = operands else {
            return Err("mapa takes a destination, an address and a rank".to_owned());
        };
        let (a, rank) = (self.source(a, ty)?, self.source(rank, Type::U32)?);
        let d = self.destination(d, ty)?;
        let run = match (ty, in_cluster) {
            (Type::U32, true) => binary(map_rank),
            (Type::U64, true) => binary(|a: u64, rank: u32| {
                map_generic_rank(a.wrapping_add(SHARED_WINDOW), rank) - SHARED_WINDOW
            }),
            (Type::U64, false) => binary(map_generic_rank),
            _ => return Err("generic addresses have 64 bits: mapa.u64".to_owned()),
        };
        self.lanes(run, d, &[a, rank]);
        Ok(())
    }

    /// `getctarank`
    pub fn rank_of(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let in_cluster = take_cluster(op);
        let ty = op.ty()?;
        let [d, a] = operands else {
            return Err("getctarank takes a destination and an address".to_owned());
        };
        let a = self.source(a, ty)?;
        let d = self.destination(d, Type::U32)?;
        let run = match (ty, in_cluster) {
            (Type::U32, true) => binary(|a: u32, own: u32| rank_of(u64::from(a), own)),
            (Type::U64, true) => binary(rank_of),
            (Type::U64, false) => {
                binary(|a: u64, own: u32| rank_of(a.wrapping_sub(SHARED_WINDOW), own))
            }
            _ => return Err("generic addresses have 64 bits: getctarank.u64".to_owned()),
        };
        let own = self.own_rank();
        self.lanes(run, d, &[a, own]);
        Ok(())
    }

    /// `st.async`
    pub fn async_store(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let in_cluster = self.take_async(op)?;
        op.ignore(&["weak"]);
        let n = take_vector(op);
        let ty = op.ty()?;
        let [address, a, barrier] = operands else {
            return Err("st.async takes an address, a source and an mbarrier".to_owned());
        };
        let address = self.address_in(address, Space::Generic, in_cluster)?;
        let store = self.stored(address, a, (n, ty), (Order::Weak, Scope::Device))?;
        let n_bytes = n as u32 * ty.size_bytes();
        self.async_update(Update::Store(store), n_bytes, barrier, in_cluster)
    }

    /// `red.async`
    pub fn async_reduction(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let in_cluster = self.take_async(op)?;
        let [address, a, barrier] = operands else {
            return Err("red.async takes an address, a source and an mbarrier".to_owned());
        };
        let mut reduction = self.atomic_of(op, &[address.clone(), a.clone()])?;
        reduction.address = self.address_in(address, Space::Generic, in_cluster)?.0;
        reduction.space = Space::Generic;
        let n_bytes = reduction.bytes;
        self.async_update(Update::Reduce(reduction), n_bytes, barrier, in_cluster)
    }

    /// Takes what all of these have; gives whether they name `.shared::cluster`.
    fn take_async(&mut self, op: &mut Opcode<'_>) -> Decoded<bool> {
        op.take("async");
        if !op.take("mbarrier::complete_tx::bytes") {
            return Err("only the form with .mbarrier::complete_tx::bytes is simulated".to_owned());
        }
        Ok(take_cluster(op))
    }

    fn async_update(
        &mut self,
        update: Update,
        n_bytes: u32,
        barrier: &Operand,
        in_cluster: bool,
    ) -> Decoded<()> {
        let (address, space) = self.address_in(barrier, Space::Generic, in_cluster)?;
        let n_bytes = self.frame.constant(u64::from(n_bytes), 4);
        let complete = Mbarrier {
            kind: MbarrierKind::Expect { completes: true },
            space,
            address,
            d: None,
            operand: Some(n_bytes),
            order: Order::Release,
            scope: Scope::Device,
            is_part: true,
        };
        self.emit(Op::AsyncStore(Box::new(AsyncStore { update, complete })));
        Ok(())
    }
}
