//! Operators that a client makes.

use std::ffi::{c_int, c_uint};

use super::buffers::is_usable;
use super::{api, put};
use crate::comm::Comm;
use crate::operators::Factor;
use crate::result::ensure;
use crate::types::DataType;

/// `ncclScalarDevice`
const IN_MEMORY: c_uint = 0;
/// `ncclScalarHostImmediate`
const IMMEDIATE: c_uint = 1;

api! {
    fn ncclRedOpCreatePreMulSum(out: *mut c_int, scalar: *const u8, data_type: c_int, residence: c_uint, comm: usize) {
        let comm = Comm::of(comm)?;
        let data_type = DataType::of(data_type)?;
        ensure(!scalar.is_null(), "the scalar is null")?;
        ensure(!out.is_null(), "the place for the operator is null")?;
        let factor = match residence {
            IN_MEMORY => {
                let text = "the scalar is not in memory that devices can use";
                ensure(is_usable(scalar as u64), text)?;
                Factor::InMemory(scalar as u64)
            }
            IMMEDIATE => {
                let mut bytes = [0; 8];
                std::ptr::copy_nonoverlapping(scalar, bytes.as_mut_ptr(), data_type.bytes());
                Factor::Known(bytes)
            }
            _ => return ensure(false, "the scalar is neither on the device nor on the host"),
        };
        put(out, comm.operators.make(data_type, factor))
    }
    fn ncclRedOpDestroy(operator: c_int, comm: usize) {
        Comm::of(comm)?.operators.destroy(operator)
    }
}
