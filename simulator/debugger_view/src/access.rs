//! The memory that the current instruction touches, by lane.
//!
//! It is read off the instruction and its registers before it is executed. Left out: bulk copies
//! and products, generic addresses of shared memory, and local memory.

use debugger::Debugger;
use maps::Access;
use ptx::ir::{Address, AddressBase, Instruction, Operand, Space, Symbol, Type};
use ptx_sim::AccessClass;
use ptx_sim::debug::{Frame, Known};

use crate::warp::{active, instruction};

/// Bytes of a row that `ldmatrix` reads.
const ROW_BYTES: u32 = 16;

/// What the instruction is about to access for the lanes that are looked at: nothing, or one range
/// for each lane, or two of a copy.
pub fn of_current(debugger: &Debugger<'_, '_, '_>) -> Vec<Access> {
    let Some(path) = debugger.path() else {
        return Vec::new();
    };
    let Some(frame) = path.frames.first() else {
        return Vec::new();
    };
    let Some(at) = instruction(debugger, frame.position) else {
        return Vec::new();
    };
    let lanes = active(debugger, &path);
    let ways = ways(at).into_iter();
    ways.filter_map(|way| way.access(debugger, frame, lanes))
        .collect()
}

/// How an instruction accesses memory.
struct Way<'a> {
    class: AccessClass,
    space: Space,
    bytes: u32,
    address: &'a Address,
    /// Lanes that give addresses.
    lanes: u32,
}

fn ways(at: &Instruction) -> Vec<Way<'_>> {
    let parts: Vec<&str> = at.opcode.split('.').collect();
    let has = |part: &str| parts.contains(&part);
    let address = |index: usize| match at.operands.get(index) {
        Some(Operand::Address(address) | Operand::IndexedAddress(address, _)) => Some(address),
        _ => None,
    };
    let (class, index) = match parts[0] {
        "ld" | "ldu" => (AccessClass::Load, 1),
        "st" => (AccessClass::Store, 0),
        "red" => (AccessClass::Reduction, 0),
        "atom" if has("cas") => (AccessClass::CompareAndSwap, 1),
        "atom" => (AccessClass::Atomic, 1),
        "ldmatrix" => (AccessClass::LoadMatrix, 1),
        "stmatrix" => (AccessClass::StoreMatrix, 0),
        "cp" if has("async") && (has("ca") || has("cg")) => return copy(at, has("cg")),
        _ => return Vec::new(),
    };
    let Some(address) = address(index) else {
        return Vec::new();
    };
    let (bytes, lanes) = match class {
        AccessClass::LoadMatrix | AccessClass::StoreMatrix => {
            let n_lanes = match (has("x4"), has("x2")) {
                (true, _) => 32,
                (_, true) => 16,
                _ => 8,
            };
            (ROW_BYTES, u32::MAX >> (32 - n_lanes))
        }
        _ => {
            let Some(ty) = parts.iter().rev().find_map(|part| Type::from_name(part)) else {
                return Vec::new();
            };
            let n = [("v2", 2), ("v4", 4), ("v8", 8)];
            let n = n.into_iter().find(|(part, _)| has(part));
            (ty.size_bytes() * n.map_or(1, |(_, n)| n), u32::MAX)
        }
    };
    let space = parts.iter().find_map(|part| space_named(part));
    vec![Way {
        class,
        space: space.unwrap_or(Space::Generic),
        bytes,
        address,
        lanes,
    }]
}

/// `cp.async.ca.shared.global [to], [from], bytes`
fn copy(at: &Instruction, bypasses: bool) -> Vec<Way<'_>> {
    let [
        Operand::Address(to),
        Operand::Address(from),
        Operand::Int(bytes),
        ..,
    ] = at.operands.as_slice()
    else {
        return Vec::new();
    };
    let class = match bypasses {
        true => AccessClass::AsyncCopyBypass,
        false => AccessClass::AsyncCopy,
    };
    let way = |space, address| Way {
        class,
        space,
        bytes: *bytes as u32,
        address,
        lanes: u32::MAX,
    };
    vec![way(Space::Global, from), way(Space::Shared, to)]
}

fn space_named(part: &str) -> Option<Space> {
    match part.split("::").next()? {
        "shared" => Some(Space::Shared),
        "global" => Some(Space::Global),
        "param" => Some(Space::Param),
        "local" => Some(Space::Local),
        "const" => Some(Space::Const),
        _ => None,
    }
}

impl Way<'_> {
    fn access(self, debugger: &Debugger<'_, '_, '_>, frame: &Frame, lanes: u32) -> Option<Access> {
        let mut mask = 0_u32;
        let mut addresses = [0; 32];
        for lane in (0..32).filter(|lane| (lanes & self.lanes) >> lane & 1 != 0) {
            if let Some(address) = address_in(debugger, frame, self.address, lane) {
                addresses[lane as usize] = address;
                mask |= 1 << lane;
            }
        }
        let first = addresses[mask.trailing_zeros() as usize % 32];
        let space = match self.space {
            Space::Generic if debugger.names().at(Space::Global, first).is_some() => Space::Global,
            space => space,
        };
        let is_known = mask != 0 && matches!(space, Space::Shared | Space::Global);
        is_known.then(|| Access::new(self.class, space, self.bytes, mask, addresses))
    }
}

fn address_in(
    debugger: &Debugger<'_, '_, '_>,
    frame: &Frame,
    address: &Address,
    lane: u32,
) -> Option<u64> {
    let module = debugger.session().module();
    let base = match address.base {
        AddressBase::Reg(register) => {
            let function = &module.functions[frame.position.function];
            let name = &function.registers[register.0 as usize].name;
            match debugger.known_in(frame, name, lane) {
                Ok(Known::Is(value)) => value.bits as u64,
                _ => return None,
            }
        }
        AddressBase::Symbol(Symbol::Variable(id)) => {
            let name = &module.variables[id.0 as usize].name;
            let shared = debugger.session().shared_variables();
            shared.iter().find(|known| known.name == *name)?.address
        }
        AddressBase::Symbol(_) => return None,
        AddressBase::Absolute => 0,
    };
    Some(base.wrapping_add_signed(address.offset))
}
