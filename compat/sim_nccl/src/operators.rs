//! Operators that a client makes: sums of elements that each rank multiplies by its own number.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::result::{Outcome, ensure};
use crate::types::{DataType, Operator};

/// Where a rank's number is.
#[derive(Clone, Copy, Debug)]
pub enum Factor {
    /// Here, as the type's bytes.
    Known([u8; 8]),
    /// In memory of the device, to be read when it is used.
    InMemory(u64),
}

/// The operators of a communicator.
#[derive(Default)]
pub struct Operators {
    made: Mutex<Made>,
}

#[derive(Default)]
struct Made {
    n: i32,
    factors: BTreeMap<i32, (DataType, Factor)>,
}

/// The first number after those of the built-in operators.
const FIRST: i32 = Operator::BUILT_IN.len() as i32;

impl Operators {
    /// Makes one, and returns its number.
    pub fn make(&self, data_type: DataType, factor: Factor) -> i32 {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let number = FIRST + made.n;
        made.n += 1;
        made.factors.insert(number, (data_type, factor));
        number
    }

    /// Ends one.
    ///
    /// # Errors
    /// There is none with this number.
    pub fn destroy(&self, number: i32) -> Outcome {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let found = made.factors.remove(&number);
        ensure(found.is_some(), unknown(number))
    }

    /// The operator with a number, for elements of a type; and a rank's own factor, if it has one.
    ///
    /// # Errors
    /// There is none, or it is for another type.
    pub fn of(&self, number: i32, data_type: DataType) -> Outcome<(Operator, Option<Factor>)> {
        let built_in = usize::try_from(number).ok();
        let built_in = built_in.and_then(|number| Operator::BUILT_IN.get(number));
        if let Some(&operator) = built_in {
            return Ok((operator, None));
        }
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let found = made.factors.get(&number).copied();
        ensure(found.is_some(), unknown(number))?;
        let (own_type, factor) = found.unwrap_or((data_type, Factor::Known([0; 8])));
        let text = format_args!("operator {number} is for {own_type}, not for {data_type}");
        ensure(own_type == data_type, text)?;
        Ok((Operator::PreMulSum, Some(factor)))
    }
}

fn unknown(number: i32) -> String {
    format!("the communicator has no operator {number}")
}
