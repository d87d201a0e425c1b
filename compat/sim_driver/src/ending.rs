//! The end of contexts, with everything they own.

use crate::context::Context;
use crate::driver::driver;
use crate::event::Event;
use crate::module::{Library, Module};
use crate::status::Outcome;

impl Context {
    /// Ends it: waits for its work, and frees what was allocated in it and the variables of its
    /// modules.
    pub fn destroy(&self) -> Outcome {
        let driver = driver()?;
        self.begin_end()?;
        self.wait();
        self.free_allocations();
        driver.free_host_of_context(self.handle);
        Library::leave_all(self.handle);
        Module::unload_all(self.handle);
        self.free_kernel_heap();
        self.forget_peers();
        self.forget_streams();
        Event::forget_all(self.handle);
        Ok(())
    }
}
