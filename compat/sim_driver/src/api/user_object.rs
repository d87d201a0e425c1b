//! Objects of the client that graphs keep alive.

use std::ffi::{c_uint, c_void};

use super::{api, put};
use crate::graph::Graph;
use crate::operation::HostCall;
use crate::status::{Outcome, Status};
use crate::user_object::UserObject;

/// `CU_USER_OBJECT_NO_DESTRUCTOR_SYNC`, which must be given.
const NO_DESTRUCTOR_SYNC: u32 = 1;
/// `CU_GRAPH_USER_OBJECT_MOVE`
const MOVE: u32 = 1;

/// A number of references.
fn count(n: c_uint) -> Outcome<u32> {
    let is_right = (1..=i32::MAX as u32).contains(&n);
    is_right.then_some(n).ok_or(Status::INVALID_VALUE)
}

api! {
    fn cuUserObjectCreate(out: *mut usize, data: *mut c_void, destroy: Option<unsafe extern "C" fn(*mut c_void)>, n: c_uint, flags: c_uint) {
        let destroy = destroy.ok_or(Status::INVALID_VALUE)?;
        Status::INVALID_VALUE.when(out.is_null() || flags != NO_DESTRUCTOR_SYNC)?;
        // The client passes both, to be called when nothing refers to the object.
        put(out, UserObject::add(HostCall::new(destroy, data), count(n)?)?)
    }
    fn cuUserObjectRetain(object: usize, n: c_uint) {
        UserObject::of(object)?.retain(count(n)?)
    }
    fn cuUserObjectRelease(object: usize, n: c_uint) {
        UserObject::of(object)?.release(object, count(n)?)
    }
    fn cuGraphRetainUserObject(graph: usize, object: usize, n: c_uint, flags: c_uint) {
        Status::INVALID_VALUE.when(flags > MOVE)?;
        let (graph, n) = (Graph::of(graph)?, count(n)?);
        let kept = UserObject::of(object)?;
        if flags == MOVE {
            kept.release(object, n)?;
        }
        graph.kept().retain(object, kept, n)
    }
    fn cuGraphReleaseUserObject(graph: usize, object: usize, n: c_uint) {
        Graph::of(graph)?.kept().release(object, count(n)?)
    }
}
