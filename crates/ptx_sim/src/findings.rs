//! What the checks found, as the error of a launch: numbers looked up.

use crate::checks::finding::{Finding, Side, Spot};
use crate::diagnostics::{AccessSide, Fault, FaultKind, LaunchError, Relation};
use crate::ir::{AddressBase, Operand, RegId, Space};
use crate::launch::LaunchContext;

impl LaunchContext<'_> {
    /// A finding as the launch's error.
    pub(crate) fn finding(&self, finding: Finding) -> LaunchError {
        let (this, kind) = match finding {
            Finding::Race { at, this, other } => (
                this,
                FaultKind::Race {
                    access: this.kind,
                    space: at.space,
                    address: at.address,
                    bytes: at.bytes,
                    relation: self.relation(at),
                    other: Box::new(self.side(&other)),
                },
            ),
            Finding::Unwritten { at, this } => (
                this,
                FaultKind::Unwritten {
                    access: this.kind,
                    space: at.space,
                    address: at.address,
                    bytes: at.bytes,
                    relation: self.relation(at),
                },
            ),
            Finding::InFlight { at, this, copy } => (
                this,
                FaultKind::CopyInFlight {
                    access: this.kind,
                    space: at.space,
                    address: at.address,
                    bytes: at.bytes,
                    relation: self.relation(at),
                    copy: Box::new(self.side(&copy)),
                },
            ),
            Finding::AbsentSource {
                this,
                source,
                present,
            } => (
                this,
                FaultKind::AbsentSource {
                    source_lane: source,
                    present,
                },
            ),
            Finding::DifferentMasks {
                this,
                members,
                other_lane,
                other_members,
            } => (
                this,
                FaultKind::DifferentMasks {
                    members,
                    other_lane,
                    other_members,
                },
            ),
            Finding::DifferentBarriers {
                barrier,
                this,
                other,
            } => (
                this,
                FaultKind::DifferentBarriers {
                    barrier,
                    other: Box::new(self.side(&other)),
                },
            ),
            Finding::DifferentCounts {
                barrier,
                this,
                threads,
                other,
                other_threads,
            } => (
                this,
                FaultKind::DifferentCounts {
                    barrier,
                    threads,
                    other_threads,
                    other: Box::new(self.side(&other)),
                },
            ),
        };
        let AccessSide { place, thread, .. } = self.side(&this);
        LaunchError::Fault(Box::new(Fault {
            kind,
            place,
            thread,
        }))
    }

    /// Whether what a load gives is only stored again, as a parameter or in local
    /// memory, or by a generic address. Compilers copy structures so, their
    /// unwritten padding included.
    pub(crate) fn only_passed_on(&self, instruction: u32) -> bool {
        let Some((function, ptx)) = self.plan.numbering.instruction(instruction) else {
            return false;
        };
        let Some(body) = &self.module.functions[function].body else {
            return false;
        };
        let Some(loaded) = body[ptx as usize].operands.first() else {
            return false;
        };
        let loaded = registers(loaded);
        let is_loaded = |register: &RegId| loaded.contains(register);
        let mut is_passed_on = false;
        let is_used_otherwise = body.iter().any(|other| {
            let guards = other.guard.is_some_and(|guard| is_loaded(&guard.register));
            let mut operands = other.operands.iter();
            let first = operands.next();
            let sources = operands.any(|operand| registers(operand).iter().any(is_loaded));
            let stores = other.opcode.starts_with("st.");
            let leaves = ["st.global", "st.shared", "st.volatile"]
                .iter()
                .any(|start| other.opcode.starts_with(start));
            let passes = sources && stores && !leaves;
            is_passed_on |= passes;
            // Elsewhere the first operand is what is computed.
            let is_target = |operand: &Operand| {
                !stores && matches!(operand, Operand::Reg(_) | Operand::Vector(_))
            };
            let addresses = first
                .filter(|operand| !is_target(operand))
                .is_some_and(|operand| registers(operand).iter().any(is_loaded));
            guards || addresses || sources && !passes
        });
        is_passed_on && !is_used_otherwise
    }

    /// A thread and its instruction as they are reported.
    fn side(&self, side: &Side) -> AccessSide {
        AccessSide {
            kind: side.kind,
            place: self.numbered_place(side.instruction),
            thread: self.thread_place(self.ctaid(side.block), side.warp, side.lane),
        }
    }

    /// Where an address is, relative to what is there.
    fn relation(&self, at: Spot) -> Relation {
        match at.space {
            Space::Shared => self.shared_relation(at.address),
            Space::Local => self.local_relation(at.address, at.bytes),
            _ => self
                .memory
                .find(at.address)
                .map_or(Relation::Nowhere, |a| Relation::Near {
                    label: a.label.clone(),
                    size_bytes: a.size_bytes,
                    offset: i128::from(at.address) - i128::from(a.base),
                }),
        }
    }
}

/// The registers that an operand names.
fn registers(operand: &Operand) -> Vec<RegId> {
    match operand {
        Operand::Reg(register) | Operand::NotReg(register) => vec![*register],
        Operand::Pair(a, b) => [registers(a), registers(b)].concat(),
        Operand::Vector(parts) => parts.iter().flat_map(registers).collect(),
        Operand::Address(address) => match address.base {
            AddressBase::Reg(register) => vec![register],
            AddressBase::Symbol(_) | AddressBase::Absolute => Vec::new(),
        },
        _ => Vec::new(),
    }
}
