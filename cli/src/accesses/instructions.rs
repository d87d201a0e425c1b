//! The instructions that cases use, and the PTX that executes one.
//!
//! Each instruction has its own entry, in which it is the only one of its
//! kind: one warp is launched, its lanes take their offsets from the parameters
//! (selected one by one, since an indexed load would be counted), and the lanes
//! in the mask execute the instruction. The loaded value is compared with a number
//! that it never equals, and would be stored if it did, so that no compiler removes
//! the load.
//!
//! Left out: atomics that the GPU's assembler turns into a loop (`add.f32` and
//! `add.u64` in shared memory), for which there is no count of a single execution.

/// Bytes of shared memory, and of global memory, that a case may touch.
pub const SHARED_BYTES: u32 = 32 * 1024;
/// Bytes of global memory that a case may touch.
pub const GLOBAL_BYTES: u32 = 64 * 1024;
/// Bytes of each thread's local memory that a case may touch.
pub const LOCAL_BYTES: u32 = 1024;

/// The class under which an instruction is counted, by the hardware's counters and
/// the simulator's alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// `ld.shared`
    SharedLoad,
    /// `st.shared`
    SharedStore,
    /// `atom.shared` and `red.shared`
    SharedAtomic,
    /// `ldmatrix`
    MatrixLoad,
    /// `stmatrix`
    MatrixStore,
    /// `cp.async.ca`
    AsyncCopy,
    /// `cp.async.cg`
    AsyncCopyBypass,
    /// `ld.global`
    GlobalLoad,
    /// `st.global`
    GlobalStore,
    /// `atom.global`
    GlobalAtomic,
    /// `red.global`
    GlobalReduction,
    /// `ld.local`
    LocalLoad,
    /// `st.local`
    LocalStore,
}

/// One instruction.
#[derive(Clone, Copy, Debug)]
pub struct Instruction {
    /// Its name in a case.
    pub name: &'static str,
    /// The class it is counted under.
    pub class: Class,
    /// Bytes per lane.
    pub bytes: u32,
    /// Name of its PTX entry.
    pub entry: &'static str,
    /// With its operands: `%s`, `%g` and `%l` are the lane's addresses in shared,
    /// global and local memory, `%r0`… the loaded and `%v0`… the stored values,
    /// `%d` and `%w` the same in 64 bits, `%f` and `%e` as floats.
    ptx: &'static str,
}

impl Instruction {
    /// Whether all lanes of a warp must execute it together.
    pub fn is_collective(&self) -> bool {
        matches!(self.class, Class::MatrixLoad | Class::MatrixStore)
    }

    /// Bytes of memory that its offsets may span.
    pub fn reach_bytes(&self) -> u32 {
        match self.class {
            Class::LocalLoad | Class::LocalStore => LOCAL_BYTES,
            Class::GlobalLoad
            | Class::GlobalStore
            | Class::GlobalAtomic
            | Class::GlobalReduction => GLOBAL_BYTES,
            _ => SHARED_BYTES,
        }
    }

    /// The oldest architecture that has it.
    pub fn min_sm(&self) -> u32 {
        if self.class == Class::MatrixStore {
            90
        } else {
            80
        }
    }
}

macro_rules! instructions {
    ($($class:ident $bytes:literal $entry:ident $name:literal $ptx:literal)*) => {
        /// All of them.
        pub const INSTRUCTIONS: &[Instruction] = &[$(Instruction {
            name: $name,
            class: Class::$class,
            bytes: $bytes,
            entry: stringify!($entry),
            ptx: $ptx,
        }),*];
    };
}

instructions! {
    SharedLoad 1 ld_shared_u8 "ld.shared.u8" "ld.shared.u8 %r0, [%s];"
    SharedLoad 2 ld_shared_u16 "ld.shared.u16" "ld.shared.u16 %r0, [%s];"
    SharedLoad 4 ld_shared_u32 "ld.shared.u32" "ld.shared.u32 %r0, [%s];"
    SharedLoad 8 ld_shared_u64 "ld.shared.u64" "ld.shared.u64 %d0, [%s];"
    SharedLoad 8 ld_shared_v2_u32 "ld.shared.v2.u32" "ld.shared.v2.u32 {%r0, %r1}, [%s];"
    SharedLoad 16 ld_shared_v4_u32 "ld.shared.v4.u32" "ld.shared.v4.u32 {%r0, %r1, %r2, %r3}, [%s];"
    SharedLoad 16 ld_shared_v2_u64 "ld.shared.v2.u64" "ld.shared.v2.u64 {%d0, %d1}, [%s];"
    SharedStore 1 st_shared_u8 "st.shared.u8" "st.shared.u8 [%s], %v0;"
    SharedStore 2 st_shared_u16 "st.shared.u16" "st.shared.u16 [%s], %v0;"
    SharedStore 4 st_shared_u32 "st.shared.u32" "st.shared.u32 [%s], %v0;"
    SharedStore 8 st_shared_u64 "st.shared.u64" "st.shared.u64 [%s], %w0;"
    SharedStore 8 st_shared_v2_u32 "st.shared.v2.u32" "st.shared.v2.u32 [%s], {%v0, %v1};"
    SharedStore 16 st_shared_v4_u32 "st.shared.v4.u32" "st.shared.v4.u32 [%s], {%v0, %v1, %v2, %v3};"
    SharedAtomic 4 atom_shared_add_u32 "atom.shared.add.u32" "atom.shared.add.u32 %r0, [%s], %v0;"
    SharedAtomic 4 atom_shared_max_s32 "atom.shared.max.s32" "atom.shared.max.s32 %r0, [%s], %v0;"
    SharedAtomic 4 atom_shared_and_b32 "atom.shared.and.b32" "atom.shared.and.b32 %r0, [%s], %v0;"
    SharedAtomic 4 atom_shared_exch_b32 "atom.shared.exch.b32" "atom.shared.exch.b32 %r0, [%s], %v0;"
    SharedAtomic 4 atom_shared_cas_b32 "atom.shared.cas.b32" "atom.shared.cas.b32 %r0, [%s], %v0, %v1;"
    SharedAtomic 8 atom_shared_exch_b64 "atom.shared.exch.b64" "atom.shared.exch.b64 %d0, [%s], %w0;"
    SharedAtomic 8 atom_shared_cas_b64 "atom.shared.cas.b64" "atom.shared.cas.b64 %d0, [%s], %w0, %w1;"
    SharedAtomic 4 red_shared_add_u32 "red.shared.add.u32" "red.shared.add.u32 [%s], %v0;"
    SharedAtomic 4 red_shared_add_1 "red.shared.add.u32 (of 1)" "red.shared.add.u32 [%s], 1;"
    SharedAtomic 4 red_shared_or_b32 "red.shared.or.b32" "red.shared.or.b32 [%s], %v0;"
    MatrixLoad 16 ldmatrix_x1 "ldmatrix.sync.aligned.m8n8.x1.shared.b16" "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%s];"
    MatrixLoad 16 ldmatrix_x2 "ldmatrix.sync.aligned.m8n8.x2.shared.b16" "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r0, %r1}, [%s];"
    MatrixLoad 16 ldmatrix_x4 "ldmatrix.sync.aligned.m8n8.x4.shared.b16" "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%s];"
    MatrixLoad 16 ldmatrix_x1_trans "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16" "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r0}, [%s];"
    MatrixLoad 16 ldmatrix_x2_trans "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16" "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r0, %r1}, [%s];"
    MatrixLoad 16 ldmatrix_x4_trans "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16" "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r0, %r1, %r2, %r3}, [%s];"
    MatrixStore 16 stmatrix_x1 "stmatrix.sync.aligned.m8n8.x1.shared.b16" "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%s], {%v0};"
    MatrixStore 16 stmatrix_x2 "stmatrix.sync.aligned.m8n8.x2.shared.b16" "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%s], {%v0, %v1};"
    MatrixStore 16 stmatrix_x4 "stmatrix.sync.aligned.m8n8.x4.shared.b16" "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%s], {%v0, %v1, %v2, %v3};"
    MatrixStore 16 stmatrix_x1_trans "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16" "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%s], {%v0};"
    MatrixStore 16 stmatrix_x2_trans "stmatrix.sync.aligned.m8n8.x2.trans.shared.b16" "stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%s], {%v0, %v1};"
    MatrixStore 16 stmatrix_x4_trans "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16" "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%s], {%v0, %v1, %v2, %v3};"
    AsyncCopy 4 cp_async_ca_4 "cp.async.ca.shared.global (4 bytes)" "cp.async.ca.shared.global [%s], [%g], 4;"
    AsyncCopy 8 cp_async_ca_8 "cp.async.ca.shared.global (8 bytes)" "cp.async.ca.shared.global [%s], [%g], 8;"
    AsyncCopy 16 cp_async_ca_16 "cp.async.ca.shared.global (16 bytes)" "cp.async.ca.shared.global [%s], [%g], 16;"
    AsyncCopyBypass 16 cp_async_cg_16 "cp.async.cg.shared.global (16 bytes)" "cp.async.cg.shared.global [%s], [%g], 16;"
    GlobalLoad 1 ld_global_u8 "ld.global.u8" "ld.global.u8 %r0, [%g];"
    GlobalLoad 2 ld_global_u16 "ld.global.u16" "ld.global.u16 %r0, [%g];"
    GlobalLoad 4 ld_global_u32 "ld.global.u32" "ld.global.u32 %r0, [%g];"
    GlobalLoad 4 ld_global_nc_u32 "ld.global.nc.u32" "ld.global.nc.u32 %r0, [%g];"
    GlobalLoad 8 ld_global_u64 "ld.global.u64" "ld.global.u64 %d0, [%g];"
    GlobalLoad 8 ld_global_v2_u32 "ld.global.v2.u32" "ld.global.v2.u32 {%r0, %r1}, [%g];"
    GlobalLoad 16 ld_global_v4_u32 "ld.global.v4.u32" "ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%g];"
    GlobalStore 1 st_global_u8 "st.global.u8" "st.global.u8 [%g], %v0;"
    GlobalStore 2 st_global_u16 "st.global.u16" "st.global.u16 [%g], %v0;"
    GlobalStore 4 st_global_u32 "st.global.u32" "st.global.u32 [%g], %v0;"
    GlobalStore 8 st_global_v2_u32 "st.global.v2.u32" "st.global.v2.u32 [%g], {%v0, %v1};"
    GlobalStore 16 st_global_v4_u32 "st.global.v4.u32" "st.global.v4.u32 [%g], {%v0, %v1, %v2, %v3};"
    GlobalAtomic 4 atom_global_add_u32 "atom.global.add.u32" "atom.global.add.u32 %r0, [%g], %v0;"
    GlobalAtomic 4 atom_global_max_s32 "atom.global.max.s32" "atom.global.max.s32 %r0, [%g], %v0;"
    GlobalAtomic 4 atom_global_exch_b32 "atom.global.exch.b32" "atom.global.exch.b32 %r0, [%g], %v0;"
    GlobalAtomic 4 atom_global_cas_b32 "atom.global.cas.b32" "atom.global.cas.b32 %r0, [%g], %v0, %v1;"
    GlobalAtomic 4 atom_global_add_f32 "atom.global.add.f32" "atom.global.add.f32 %f0, [%g], %e0;"
    GlobalAtomic 8 atom_global_add_u64 "atom.global.add.u64" "atom.global.add.u64 %d0, [%g], %w0;"
    GlobalReduction 4 red_global_add_u32 "red.global.add.u32" "red.global.add.u32 [%g], %v0;"
    GlobalReduction 4 red_global_max_s32 "red.global.max.s32" "red.global.max.s32 [%g], %v0;"
    GlobalReduction 4 red_global_or_b32 "red.global.or.b32" "red.global.or.b32 [%g], %v0;"
    GlobalReduction 4 red_global_add_f32 "red.global.add.f32" "red.global.add.f32 [%g], %e0;"
    GlobalReduction 8 red_global_add_u64 "red.global.add.u64" "red.global.add.u64 [%g], %w0;"
    LocalLoad 1 ld_local_u8 "ld.local.u8" "ld.local.u8 %r0, [%l];"
    LocalLoad 4 ld_local_u32 "ld.local.u32" "ld.local.u32 %r0, [%l];"
    LocalLoad 8 ld_local_v2_u32 "ld.local.v2.u32" "ld.local.v2.u32 {%r0, %r1}, [%l];"
    LocalLoad 16 ld_local_v4_u32 "ld.local.v4.u32" "ld.local.v4.u32 {%r0, %r1, %r2, %r3}, [%l];"
    LocalStore 4 st_local_u32 "st.local.u32" "st.local.u32 [%l], %v0;"
    LocalStore 8 st_local_v2_u32 "st.local.v2.u32" "st.local.v2.u32 [%l], {%v0, %v1};"
    LocalStore 16 st_local_v4_u32 "st.local.v4.u32" "st.local.v4.u32 [%l], {%v0, %v1, %v2, %v3};"
    GlobalAtomic 8 atom_global_exch_b64 "atom.global.exch.b64" "atom.global.exch.b64 %d0, [%g], %w0;"
    GlobalAtomic 8 atom_global_cas_b64 "atom.global.cas.b64" "atom.global.cas.b64 %d0, [%g], %w0, %w1;"
}

/// The instruction of that name.
pub fn named(name: &str) -> Option<&'static Instruction> {
    INSTRUCTIONS
        .iter()
        .find(|instruction| instruction.name == name)
}

/// The instructions that an architecture has.
pub fn on(sm: u32) -> impl Iterator<Item = &'static Instruction> {
    INSTRUCTIONS
        .iter()
        .filter(move |instruction| instruction.min_sm() <= sm)
}

/// A module with an entry for every instruction that an architecture has.
///
/// Parameters of each: 32 offsets and the mask (`u32`), then the address of
/// [`GLOBAL_BYTES`] of global memory (`u64`).
pub fn ptx(sm: u32) -> String {
    let target = if sm >= 90 { 90 } else { 80 };
    let mut text = format!(
        ".version 7.8\n.target sm_{target}\n.address_size 64\n\
         .shared .align 128 .b8 tile[{SHARED_BYTES}];\n"
    );
    text.extend(on(sm).map(entry));
    text
}

/// The entry of an instruction: `access.ptx` with its capitalized placeholders filled in.
fn entry(instruction: &Instruction) -> String {
    let lanes = |line: fn(usize) -> String| (0..super::LANES).map(line).collect::<String>();
    let class = instruction.class;
    let (mut before, mut after) = (String::new(), "");
    if matches!(class, Class::LocalLoad | Class::LocalStore) {
        // `%w1` is a second address, which no compiler can distinguish from the first.
        before = format!(
            "    .local .align 16 .b8 frame[{LOCAL_BYTES}];\n    mov.u64 %l, frame;\n    \
             ld.param.u32 %x, [mask];\n    and.b32 %x, %x, {};\n    cvt.u64.u32 %w1, %x;\n    \
             add.u64 %w1, %l, %w1;\n    add.u64 %l, %l, %wide;\n",
            LOCAL_BYTES - 1
        );
    }
    match class {
        // A compiler would remove local memory that nothing is stored to.
        Class::LocalLoad => before += "    st.local.u8 [%w1], %v0;\n",
        Class::LocalStore => after = "    ld.local.u8 %r0, [%w1];\n",
        Class::AsyncCopy | Class::AsyncCopyBypass => after = "    cp.async.wait_all;\n",
        _ => {}
    }
    let guard = match instruction.is_collective() {
        true => "",
        false => "@%go ",
    };
    include_str!("access.ptx")
        .replace("ENTRY", instruction.entry)
        .replace("    OFFSET_PARAMS\n", &lanes(|lane| {
            format!("    .param .u32 offset_{lane},\n")
        }))
        .replace("    OFFSETS\n", &lanes(|lane| {
            format!(
                "    ld.param.u32 %other, [offset_{lane}];\n    setp.eq.u32 %this, %lane, {lane};\n    \
                 selp.u32 %offset, %other, %offset, %this;\n"
            )
        }))
        .replace("    BEFORE\n", &before)
        .replace("ACCESS", &format!("{guard}{}", instruction.ptx))
        .replace("    AFTER\n", after)
}

#[cfg(test)]
mod tests {
    use super::{INSTRUCTIONS, named, on, ptx};
    use std::collections::HashSet;

    #[test]
    fn names_and_entries_are_unique() {
        let names: HashSet<_> = INSTRUCTIONS.iter().map(|i| i.name).collect();
        let entries: HashSet<_> = INSTRUCTIONS.iter().map(|i| i.entry).collect();
        assert_eq!(names.len(), INSTRUCTIONS.len());
        assert_eq!(entries.len(), INSTRUCTIONS.len());
        assert!(named("ld.shared.u8").is_some() && named("ld.shared").is_none());
    }

    #[test]
    fn older_architectures_have_no_stmatrix() {
        assert!(on(80).count() < on(90).count());
        assert!(!ptx(80).contains("stmatrix") && ptx(90).contains("stmatrix"));
    }
}
