//! An H200's results of `vshl` and `vshr` followed by a minimum or maximum: the shifted value is
//! not cut to 32 bits before that. Of each form 576 results were compared, and agree;
//! `shifts.txt` has some of them. (ptxas executes those with `.sat` differently: see
//! `cases.rs`.)

use common::{kernel, launch};

/// Value, distance, and the second operation's operand.
const OPERANDS: [[u32; 3]; 6] = [
    [0x72821e3, 27, 0x7eb8dce4],
    [0x12345678, 32, 0x7eb8dce4],
    [0x80000000, 1, 0x18000000],
    [0xf0000001, 4, 0x80000000],
    [0xffffffff, 33, 0x1],
    [0x7fffffff, 31, 0xfffffff0],
];

#[test]
fn shifted_values_are_compared_whole() {
    let rows = include_str!("shifts.txt").lines();
    assert_eq!(rows.clone().count(), 32);
    for row in rows {
        let (opcode, expected) = row.split_once(' ').expect("an opcode and its results");
        let each = (0..).zip(OPERANDS).map(|(i, [a, b, c])| {
            format!(
                "mov.u32 %r1, {a}; mov.u32 %r2, {b}; mov.u32 %r3, {c};
                 {opcode} %r4, %r1, %r2, %r3;
                 cvt.u64.u32 %rd1, %r4; st.global.u64 [%slot+{}], %rd1;\n",
                8 * i
            )
        });
        let text = kernel(&each.collect::<String>());
        let (found, _) = launch(&text, &[0; 6], |call| call).expect("no fault");
        let found: Vec<String> = found.iter().map(|word| format!("{word:#x}")).collect();
        assert_eq!(found.join(" "), expected, "{opcode}");
    }
}
