//! Symbols: names known to several texts.

use std::collections::HashMap;

use super::error::{Definition, LinkError};
use ptx::ir::{Function, Linkage, Module, Param, Space, Variable};

/// A function or variable of an input: the input's number, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct At {
    pub input: usize,
    pub index: usize,
}

/// The meanings of names known to several texts.
pub(super) struct Symbols {
    functions: HashMap<String, At>,
    variables: HashMap<String, At>,
}

/// The rank of a declaration; of equal ones the first counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Declared,
    /// `.weak` and `.common`, with the bytes of the latter.
    Weak(u64),
    Defined,
}

/// A name with what it stands for in one input.
#[derive(Clone, Copy)]
struct Candidate<'a> {
    name: &'a str,
    rank: Rank,
    at: At,
    meaning: Meaning<'a>,
}

#[derive(Clone, Copy)]
enum Meaning<'a> {
    Function(&'a Function),
    Variable(&'a Variable),
}

impl Symbols {
    /// Resolves all names.
    pub fn of(modules: &[&Module], names: &[&str]) -> Result<Self, LinkError> {
        let mut known: HashMap<&str, Candidate<'_>> = HashMap::new();
        for (input, module) in modules.iter().enumerate() {
            for new in functions(input, module).chain(variables(input, module)) {
                let Some(old) = known.get_mut(new.name) else {
                    known.insert(new.name, new);
                    continue;
                };
                check_alike(old, &new, names)?;
                if old.rank == Rank::Defined && new.rank == Rank::Defined {
                    return Err(LinkError::DefinedTwice {
                        symbol: new.name.to_owned(),
                        places: Box::new([old.place(names), new.place(names)]),
                    });
                }
                if new.rank > old.rank {
                    *old = new;
                }
            }
        }
        let mut symbols = Self {
            functions: HashMap::new(),
            variables: HashMap::new(),
        };
        for (name, candidate) in &known {
            match candidate.meaning {
                Meaning::Function(_) => {
                    // An alias may stand for what another input has replaced.
                    let At { input, index } = candidate.at;
                    let function = &modules[input].functions[index];
                    let home = match function.linkage {
                        Linkage::Local => candidate.at,
                        _ => known[&*function.name].at,
                    };
                    symbols.functions.insert((*name).to_owned(), home);
                }
                Meaning::Variable(_) => {
                    symbols.variables.insert((*name).to_owned(), candidate.at);
                }
            }
        }
        Ok(symbols)
    }

    /// What a function of an input stands for: perhaps another one.
    pub fn function(&self, at: At, function: &Function) -> At {
        match function.linkage {
            Linkage::Local => at,
            _ => self.functions.get(&function.name).copied().unwrap_or(at),
        }
    }

    /// What a variable of an input stands for: perhaps another one.
    pub fn variable(&self, at: At, variable: &Variable) -> At {
        match variable.linkage {
            _ if variable.scope.is_some() => at,
            Linkage::Local => at,
            _ => self.variables.get(&variable.name).copied().unwrap_or(at),
        }
    }

    /// Whether a function that all know has that name.
    pub fn has_function(&self, name: &str) -> bool {
        self.functions.contains_key(name)
    }

    /// Whether a variable that all know has that name.
    pub fn has_variable(&self, name: &str) -> bool {
        self.variables.contains_key(name)
    }
}

/// The functions of an input that others know, aliases included.
fn functions(input: usize, module: &Module) -> impl Iterator<Item = Candidate<'_>> {
    let known = module.functions.iter().enumerate();
    let known = known.filter(|(_, function)| function.linkage != Linkage::Local);
    known.map(move |(index, function)| {
        let alias = module
            .aliases
            .iter()
            .find(|(name, _)| *name == function.name);
        let index = match alias {
            Some((_, target)) if function.body.is_none() => target.0 as usize,
            _ => index,
        };
        let is_defined = module.functions[index].body.is_some();
        Candidate {
            name: &function.name,
            rank: match function.linkage {
                _ if !is_defined => Rank::Declared,
                Linkage::Weak | Linkage::Common => Rank::Weak(0),
                _ => Rank::Defined,
            },
            at: At { input, index },
            meaning: Meaning::Function(function),
        }
    })
}

/// The variables of an input that others know.
fn variables(input: usize, module: &Module) -> impl Iterator<Item = Candidate<'_>> {
    let known = module.variables.iter().enumerate();
    let known = known.filter(|(_, v)| v.linkage != Linkage::Local && v.scope.is_none());
    known.map(move |(index, variable)| Candidate {
        name: &variable.name,
        rank: match variable.linkage {
            _ if variable.is_extern => Rank::Declared,
            Linkage::Weak => Rank::Weak(0),
            Linkage::Common => Rank::Weak(variable.size_bytes),
            _ => Rank::Defined,
        },
        at: At { input, index },
        meaning: Meaning::Variable(variable),
    })
}

impl Candidate<'_> {
    fn place(&self, names: &[&str]) -> Definition {
        let (line, what) = match self.meaning {
            Meaning::Function(function) => (function.line, signature(function)),
            Meaning::Variable(variable) => (variable.line, storage(variable)),
        };
        let input = names[self.at.input].to_owned();
        Definition { input, line, what }
    }

    fn is_common(&self) -> bool {
        matches!(self.meaning, Meaning::Variable(v) if v.linkage == Linkage::Common)
    }
}

/// Checks that two inputs mean the same by a name.
fn check_alike(
    first: &Candidate<'_>,
    second: &Candidate<'_>,
    names: &[&str],
) -> Result<(), LinkError> {
    let are_alike = match (first.meaning, second.meaning) {
        (Meaning::Function(a), Meaning::Function(b)) => {
            a.is_entry == b.is_entry
                && have_one_shape(&a.params, &b.params)
                && (have_one_shape(&a.returns, &b.returns)
                    || drops_results((first.rank, a), (second.rank, b))
                    || drops_results((second.rank, b), (first.rank, a)))
        }
        (Meaning::Variable(a), Meaning::Variable(b)) => {
            a.space == b.space && have_one_size((first, a), (second, b))
        }
        _ => false,
    };
    if are_alike {
        return Ok(());
    }
    Err(LinkError::Unlike {
        symbol: first.name.to_owned(),
        places: Box::new([first.place(names), second.place(names)]),
    })
}

/// Whether the first is declared with a result, and the second, which may be its definition,
/// has none: some compilers declare all functions with a result. The call's result is then
/// undefined, which does not matter if it is not used.
fn drops_results((rank, a): (Rank, &Function), (_, b): (Rank, &Function)) -> bool {
    rank == Rank::Declared && b.returns.is_empty() && !a.is_entry
}

fn have_one_shape(a: &[Param], b: &[Param]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.has_shape_of(b))
}

/// Whether the sizes of two variables of one name agree. A declaration may leave its size
/// open, and of `.common` ones the largest counts, unless a definition does.
fn have_one_size(first: (&Candidate<'_>, &Variable), second: (&Candidate<'_>, &Variable)) -> bool {
    let ((a, first), (b, second)) = (first, second);
    let covers = |defined: &Variable, common: &Variable| defined.size_bytes >= common.size_bytes;
    first.size_bytes == second.size_bytes
        || first.is_open()
        || second.is_open()
        || match (a.is_common(), b.is_common()) {
            (true, true) => true,
            (true, false) => covers(second, first),
            (false, true) => covers(first, second),
            (false, false) => false,
        }
}

/// `a function with parameters of (4, 8) bytes`
fn signature(function: &Function) -> String {
    let sizes = |params: &[Param]| {
        let sizes: Vec<String> = params.iter().map(|p| p.size_bytes.to_string()).collect();
        sizes.join(", ")
    };
    let kind = if function.is_entry {
        "kernel"
    } else {
        "function"
    };
    let mut text = if function.params.is_empty() {
        format!("a {kind} without parameters")
    } else {
        let sizes = sizes(&function.params);
        format!("a {kind} with parameters of ({sizes}) bytes")
    };
    if !function.returns.is_empty() {
        text += &format!(" that returns ({})", sizes(&function.returns));
    }
    text
}

/// `16 bytes of global memory`
fn storage(variable: &Variable) -> String {
    let space = match variable.space {
        Space::Const => "constant",
        Space::Shared => "shared",
        _ => "global",
    };
    format!("{} bytes of {space} memory", variable.size_bytes)
}
