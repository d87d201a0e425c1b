//! The simulator's results where PTX leaves them open, asked of the simulator itself.

use common::Bench;

/// What one thread reads from a special register, by 32 bits.
pub fn special(name: &str) -> u32 {
    read(&format!("mov.u32 %r0, {name};"))
}

/// Unwritten memory of a state space, by 32 bits.
pub fn unwritten(space: &str) -> u32 {
    match space {
        "global" => read("ld.global.u32 %r0, [%d0 + 4];"),
        _ => read(&format!(".{space} .b32 word; ld.{space}.u32 %r0, [word];")),
    }
}

/// What a body leaves in `%r0`.
fn read(body: &str) -> u32 {
    let text = format!(
        ".entry k(.param .u64 out) {{\n.reg .b32 %r0;\n.reg .b64 %d0;\nld.param.u64 %d0, [out];\n\
         {body}\nst.global.u32 [%d0], %r0;\nret;\n}}\n"
    );
    let bench = Bench::new(&text);
    let out = bench.device.alloc(8, "out").unwrap();
    bench.call("k").arg(out).run().unwrap();
    let mut word = [0; 4];
    bench.device.read(out, &mut word).unwrap();
    u32::from_le_bytes(word)
}
