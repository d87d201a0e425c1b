//! `wgmma.mma_async`

use super::super::context::Step;
use super::operands::{Descriptor, Reader};
use crate::checks::observer::{Observer, ProductSeen};
use crate::diagnostics::{AsyncFault, FaultKind};
use crate::lanes::{FULL_MASK, WARP_SIZE};
use crate::numeric::tile::Register;
use crate::numeric::wgmma;
use crate::program::{LeftOperand, Slot, Wgmma};
use crate::stop::Stop;
use crate::warpgroups::{Issued, N_WARPS};

/// Groups of eight rows of A that a warp multiplies.
const GROUPS_OF_A: u32 = 2;

/// Issues a product and computes the warp's rows of it.
pub(super) fn multiply<O: Observer>(step: &mut Step<'_, '_, O>, op: &Wgmma) -> Result<(), Stop> {
    let n_warps = step.launch.n_warps();
    let warp = step.warp.index;
    if warp / N_WARPS * N_WARPS + N_WARPS > n_warps {
        return Err(bad(format!(
            "wgmma needs warpgroups of four warps, but warp {warp} of the block's {n_warps} is \
             not in one"
        )));
    }
    let issued = issued(step, op)?;
    match step.env.warpgroups.come(warp, issued) {
        Ok(true) => step.env.warpgroups.issue(warp),
        Ok(false) => return Err(Stop::WaitsForWarps),
        Err(other) => return Err(disagreement(step, &issued, &other)),
    }
    let mut addresses = (O::ON && step.launch.checks).then(Vec::new);
    let a = left(step, op, issued.a, addresses.as_mut())?;
    let mut reader = reader(step, issued.b, op.transposed[1], addresses.as_mut())?;
    let mut b = std::mem::take(&mut step.env.warpgroups.spare);
    b.resize(op.n as usize / 8, [[0; WARP_SIZE]; 2]);
    reader
        .groups(&mut b)
        .map_err(|address| outside(step, "B", &reader.descriptor, address))?;
    negate(op, b.as_flattened_mut(), 1);
    let regs = step.view.regs;
    // SAFETY: The decoder made the slot for 32-bit lanes.
    let read = |slot: Slot| unsafe { *regs.lanes::<u32>(slot) };
    let frame = (step.frame, step.function);
    let sums = step.warp.in_flight.open(frame, &op.d, issued.keeps, read);
    add(op, &a, &b, sums);
    step.env.warpgroups.spare = b;
    if O::ON {
        let (lanes, number) = (step.lanes(FULL_MASK), step.number);
        let seen = ProductSeen {
            frame: step.frame,
            sums: &op.d,
            a: op.a.registers(),
            shape: (op.n, op.kind.registers_of_block()),
            addresses: addresses.as_deref().unwrap_or_default(),
        };
        step.env.observer.product_issued(number, lanes, &seen);
    }
    Ok(())
}

/// [`wgmma::multiply`], out of line so that it is compiled once.
#[inline(never)]
fn add(op: &Wgmma, a: &[Register; 4], b: &[[Register; 2]], sums: &mut [Register]) {
    wgmma::multiply(op.kind, a, b, sums);
}

/// What the warp issues: the same for all its lanes.
fn issued<O: Observer>(step: &Step<'_, '_, O>, op: &Wgmma) -> Result<Issued, Stop> {
    let uniform = |slot: Slot, name: &str| {
        // SAFETY: The decoder made the slot for 64-bit lanes.
        let lanes: &[u64; WARP_SIZE] = unsafe { step.view.regs.lanes(slot) };
        match lanes.iter().position(|&bits| bits != lanes[0]) {
            None => Ok(lanes[0]),
            Some(lane) => Err(bad(format!(
                "the lanes of a warp give wgmma different descriptors of {name}: {:#018x} in lane 0, \
                 {:#018x} in lane {lane}",
                lanes[0], lanes[lane]
            ))),
        }
    };
    let a = match op.a {
        LeftOperand::Memory(slot) => Some(uniform(slot, "A")?),
        LeftOperand::Registers(_) => None,
    };
    // SAFETY: The decoder made the slot for a predicate.
    let keeps = unsafe { step.view.regs.predicate(op.keeps.slot) } ^ op.keeps.flip;
    if keeps != 0 && keeps != FULL_MASK {
        return Err(bad(
            "the lanes of a warp give wgmma different predicates for scale-d".to_owned(),
        ));
    }
    Ok(Issued {
        instruction: step.number,
        a,
        b: uniform(op.b, "B")?,
        keeps: keeps != 0,
    })
}

/// Another warp issued something else instead.
#[cold]
fn disagreement<O: Observer>(step: &Step<'_, '_, O>, own: &Issued, other: &Issued) -> Stop {
    let what = if own.instruction != other.instruction {
        let place = step.launch.numbered_place(other.instruction);
        format!("another wgmma, at PTX line {}", place.ptx_line)
    } else if own.b != other.b {
        format!("the descriptor {:#018x} of B, not {:#018x}", other.b, own.b)
    } else if own.a != other.a {
        let [own, other] = [own.a, other.a].map(Option::unwrap_or_default);
        format!("the descriptor {other:#018x} of A, not {own:#018x}")
    } else {
        "another scale-d".to_owned()
    };
    bad(format!(
        "the warps of a warpgroup do not issue the same products: where warp {} has this one, \
         an earlier warp had {what}",
        step.warp.index
    ))
}

fn reader<'r, O: Observer>(
    step: &Step<'r, '_, O>,
    bits: u64,
    transposed: bool,
    addresses: Option<&'r mut Vec<u32>>,
) -> Result<Reader<'r>, Stop> {
    Ok(Reader {
        shared: step.env.shared,
        descriptor: Descriptor::new(bits, transposed).map_err(bad)?,
        addresses,
    })
}

/// The warp's rows of A.
fn left<O: Observer>(
    step: &Step<'_, '_, O>,
    op: &Wgmma,
    descriptor: Option<u64>,
    addresses: Option<&mut Vec<u32>>,
) -> Result<[Register; 4], Stop> {
    let mut a = [[0; WARP_SIZE]; 4];
    match (descriptor, &op.a) {
        (Some(bits), _) => {
            let mut reader = Reader {
                shared: step.env.shared,
                descriptor: Descriptor::new(bits, op.transposed[0]).map_err(bad)?,
                addresses,
            };
            let first = step.warp.index % N_WARPS * GROUPS_OF_A;
            for (i, register) in (0..).zip(&mut a) {
                let core = reader.core(first + i % GROUPS_OF_A, i / GROUPS_OF_A, register);
                core.map_err(|at| outside(step, "A", &reader.descriptor, at))?;
            }
        }
        (None, LeftOperand::Registers(slots)) => {
            for (register, &slot) in a.iter_mut().zip(slots) {
                // SAFETY: The decoder made the slot for 32-bit lanes.
                *register = unsafe { *step.view.regs.lanes::<u32>(slot) };
            }
        }
        (None, LeftOperand::Memory(_)) => {}
    }
    negate(op, &mut a, 0);
    Ok(a)
}

/// Negates the factors of A (0) or B (1), if they are to be.
fn negate(op: &Wgmma, registers: &mut [Register], operand: usize) {
    if op.negated[operand] {
        let signs = op.kind.signs()[operand];
        registers
            .as_flattened_mut()
            .iter_mut()
            .for_each(|word| *word ^= signs);
    }
}

/// A matrix reaches out of the block's memory.
#[cold]
fn outside<O: Observer>(
    step: &Step<'_, '_, O>,
    name: &str,
    descriptor: &Descriptor,
    address: u32,
) -> Stop {
    bad(format!(
        "the descriptor of {name} reaches to address {address:#x}, but the block has {} bytes \
         of shared memory ({})",
        step.env.shared.size_bytes(),
        descriptor.describe()
    ))
}

/// A fault of the whole warp.
#[cold]
pub(super) fn bad(message: String) -> Stop {
    let fault = AsyncFault::BadWarpgroup { message };
    Stop::fault(FULL_MASK, FaultKind::Asynchronous(Box::new(fault)))
}
