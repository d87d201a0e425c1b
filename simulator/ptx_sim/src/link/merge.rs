//! The modules' functions, variables and files in one numbering.

use std::collections::{HashMap, HashSet};

use super::error::{LinkError, UndefinedSymbol};
use super::references::{Reference, visit};
use super::symbols::{At, Symbols};
use crate::module::PROVIDED;
use ptx::ir::{
    CallSiteId, Function, Linkage, MAX_CONST_BYTES, Module, Operand, RelocationTarget, SourceLoc,
    Space, Variable,
};

/// An input's numbers in the linked module.
struct Numbers {
    functions: Vec<u32>,
    variables: Vec<u32>,
    files: HashMap<u32, u32>,
    /// Of its first call site.
    call_sites: u32,
}

/// The number of items left out; nothing that stays names them.
const NONE: u32 = u32::MAX;

/// The first user of each function or variable, by number: its name and its input.
type Users = HashMap<u32, (String, u32)>;

/// The linked module while it grows.
#[derive(Default)]
struct Merger {
    module: Module,
    function_users: Users,
    variable_users: Users,
    /// By variable, the input that declares it.
    variable_inputs: Vec<u32>,
    /// What other declarations of a variable say.
    alignments: Vec<(u32, u32)>,
}

/// Makes one module of several with their names.
pub(super) fn merge(inputs: Vec<(String, Module)>, symbols: &Symbols) -> Result<Module, LinkError> {
    let mut numbers = number(&inputs, symbols);
    let clashes = Clashes::of(&inputs, symbols);
    let without_result = without_result(&inputs, &numbers);
    let mut merger = Merger::default();
    for (input, (name, mut module)) in inputs.into_iter().enumerate() {
        clashes.rename(&mut module, &name);
        drop_results(&mut module, &numbers[input], &without_result);
        merger.header(&module);
        merger.lines(&module, &mut numbers[input]);
        merger.module.inputs.push(name);
        merger.functions(input, module.functions, &numbers[input], symbols);
        merger.variables(input, module.variables, &numbers[input], symbols);
    }
    for (number, align) in &merger.alignments {
        let variable = &mut merger.module.variables[*number as usize];
        variable.align = variable.align.max(*align);
    }
    merger.check_defined()?;
    merger.check_constants()?;
    Ok(merger.module)
}

/// Numbers what stays, in order; an item replaced by another has that one's number.
fn number(inputs: &[(String, Module)], symbols: &Symbols) -> Vec<Numbers> {
    let mut numbers: Vec<Numbers> = Vec::new();
    let (mut n_functions, mut n_variables) = (0, 0);
    let next = |n: &mut u32, is_kept| {
        *n += u32::from(is_kept);
        if is_kept { *n - 1 } else { NONE }
    };
    for (input, (_, module)) in inputs.iter().enumerate() {
        let functions = module.functions.iter().enumerate();
        let functions: Vec<u32> = functions
            .map(|(index, f)| next(&mut n_functions, stays(symbols, At { input, index }, f)))
            .collect();
        let is_left_out = |variable: &Variable| {
            let scope = variable.scope.map(|id| functions[id.0 as usize]);
            scope == Some(NONE)
        };
        let variables = module.variables.iter().enumerate();
        let variables = variables
            .map(|(index, v)| {
                let is_home = symbols.variable(At { input, index }, v) == At { input, index };
                next(&mut n_variables, is_home && !is_left_out(v))
            })
            .collect();
        numbers.push(Numbers {
            functions,
            variables,
            files: HashMap::new(),
            call_sites: 0,
        });
    }
    for (input, (_, module)) in inputs.iter().enumerate() {
        for (index, function) in module.functions.iter().enumerate() {
            let home = symbols.function(At { input, index }, function);
            numbers[input].functions[index] = numbers[home.input].functions[home.index];
        }
        for (index, variable) in module.variables.iter().enumerate() {
            let home = symbols.variable(At { input, index }, variable);
            numbers[input].variables[index] = numbers[home.input].variables[home.index];
        }
    }
    numbers
}

/// The functions that stay and have no result.
fn without_result(inputs: &[(String, Module)], numbers: &[Numbers]) -> HashSet<u32> {
    let all = inputs
        .iter()
        .zip(numbers)
        .flat_map(|((_, module), numbers)| {
            let own = module.functions.iter().zip(&numbers.functions);
            own.filter(|(function, _)| function.body.is_some() && function.returns.is_empty())
        });
    all.map(|(_, &number)| number).collect()
}

/// Removes the result from calls of functions that an input declares with a result, but that
/// have none: nothing is written there.
fn drop_results(module: &mut Module, numbers: &Numbers, without_result: &HashSet<u32>) {
    let declared = module.functions.iter().zip(&numbers.functions);
    let lacking: HashSet<u32> = (0..)
        .zip(declared)
        .filter(|(_, (function, number))| {
            !function.returns.is_empty() && without_result.contains(number)
        })
        .map(|(index, _)| index)
        .collect();
    if lacking.is_empty() {
        return;
    }
    let bodies = module.functions.iter_mut().filter_map(|f| f.body.as_mut());
    for instruction in bodies.flatten() {
        if let [Operand::List(_), Operand::Function(id), ..] = &instruction.operands[..]
            && lacking.contains(&id.0)
        {
            instruction.operands.remove(0);
        }
    }
}

/// Whether a function stays: nothing replaces it.
fn stays(symbols: &Symbols, at: At, function: &Function) -> bool {
    symbols.function(at, function) == at
}

/// Names of local functions and variables that others have too.
struct Clashes {
    functions: HashSet<String>,
    variables: HashSet<String>,
}

impl Clashes {
    fn of(inputs: &[(String, Module)], symbols: &Symbols) -> Self {
        let mut clashes = Self {
            functions: HashSet::new(),
            variables: HashSet::new(),
        };
        let (mut functions, mut variables) = (HashSet::new(), HashSet::new());
        for (_, module) in inputs {
            for name in module.functions.iter().filter_map(local_function) {
                if symbols.has_function(name) || !functions.insert(name) {
                    clashes.functions.insert(name.to_owned());
                }
            }
            for name in module.variables.iter().filter_map(local_variable) {
                if symbols.has_variable(name) || !variables.insert(name) {
                    clashes.variables.insert(name.to_owned());
                }
            }
        }
        clashes
    }

    /// Gives local names that clash the input's name, so that a name of the linked module
    /// means one thing.
    fn rename(&self, module: &mut Module, input: &str) {
        let renamed = |name: &str| format!("{name} of {input}");
        for function in &mut module.functions {
            if local_function(function).is_some_and(|name| self.functions.contains(name)) {
                function.name = renamed(&function.name);
            }
        }
        for variable in &mut module.variables {
            if local_variable(variable).is_some_and(|name| self.variables.contains(name)) {
                variable.name = renamed(&variable.name);
            }
        }
    }
}

fn local_function(function: &Function) -> Option<&str> {
    (function.linkage == Linkage::Local).then_some(&function.name)
}

/// The name of a local variable; those of functions are not known outside in any case.
fn local_variable(variable: &Variable) -> Option<&str> {
    let is_local = variable.linkage == Linkage::Local && variable.scope.is_none();
    is_local.then_some(&variable.name)
}

impl Merger {
    /// The highest version and target.
    fn header(&mut self, module: &Module) {
        let merged = &mut self.module;
        merged.version = merged.version.max(module.version);
        if module.architecture() > merged.architecture() {
            merged.target.clone_from(&module.target);
        }
    }

    /// Files and call sites.
    fn lines(&mut self, module: &Module, numbers: &mut Numbers) {
        for (index, path) in &module.files {
            let files = &mut self.module.files;
            let known = files.iter().find(|(_, known)| known == path);
            let number = known.map_or(files.len() as u32 + 1, |(number, _)| *number);
            if known.is_none() {
                files.push((number, path.clone()));
            }
            numbers.files.entry(*index).or_insert(number);
        }
        numbers.call_sites = self.module.call_sites.len() as u32;
        let sites = module.call_sites.iter().map(|&site| numbers.place(site));
        self.module.call_sites.extend(sites);
    }

    /// The functions of an input that stay.
    fn functions(
        &mut self,
        input: usize,
        functions: Vec<Function>,
        numbers: &Numbers,
        symbols: &Symbols,
    ) {
        for (index, mut function) in functions.into_iter().enumerate() {
            if !stays(symbols, At { input, index }, &function) {
                continue;
            }
            function.input = input as u32;
            let user = (function.name.clone(), function.input);
            for instruction in function.body.iter_mut().flatten() {
                instruction.loc = instruction.loc.map(|loc| numbers.place(loc));
                for operand in &mut instruction.operands {
                    visit(operand, &mut |reference| {
                        self.refer(reference, numbers, &user)
                    });
                }
            }
            self.module.functions.push(function);
        }
    }

    /// The variables of an input that stay.
    fn variables(
        &mut self,
        input: usize,
        variables: Vec<Variable>,
        numbers: &Numbers,
        symbols: &Symbols,
    ) {
        for (index, mut variable) in variables.into_iter().enumerate() {
            let number = numbers.variables[index];
            let home = symbols.variable(At { input, index }, &variable);
            if number == NONE {
                continue;
            }
            if home != (At { input, index }) {
                self.alignments.push((number, variable.align));
                continue;
            }
            let user = (variable.name.clone(), input as u32);
            for relocation in &mut variable.relocations {
                let reference = match &mut relocation.target {
                    RelocationTarget::Function(id) => Reference::Function(id),
                    RelocationTarget::Variable(id) => Reference::Variable(id),
                };
                self.refer(reference, numbers, &user);
            }
            if let Some(scope) = &mut variable.scope {
                scope.0 = numbers.functions[scope.0 as usize];
            }
            self.variable_inputs.push(input as u32);
            self.module.variables.push(variable);
        }
    }

    /// Gives what is named its number, and notes who names it.
    fn refer(&mut self, reference: Reference<'_>, numbers: &Numbers, user: &(String, u32)) {
        let users = match reference {
            Reference::Function(id) => {
                id.0 = numbers.functions[id.0 as usize];
                self.function_users.entry(id.0)
            }
            Reference::Variable(id) => {
                id.0 = numbers.variables[id.0 as usize];
                self.variable_users.entry(id.0)
            }
        };
        users.or_insert_with(|| user.clone());
    }

    /// Checks that all variables and all used functions are defined.
    fn check_defined(&self) -> Result<(), LinkError> {
        let mut undefined = Vec::new();
        let name_of = |input: u32| self.module.inputs[input as usize].clone();
        for (number, function) in (0..).zip(&self.module.functions) {
            let is_known = function.body.is_some() || PROVIDED.contains(&&*function.name);
            if let Some((user, input)) = self.function_users.get(&number)
                && !is_known
            {
                undefined.push(UndefinedSymbol {
                    symbol: function.name.clone(),
                    user: Some(user.clone()),
                    input: name_of(*input),
                });
            }
        }
        for (number, variable) in (0..).zip(&self.module.variables) {
            // What is declared in shared memory is as large as the launch says.
            if variable.is_extern && variable.space != Space::Shared {
                let user = self.variable_users.get(&number);
                let declared_in = self.variable_inputs[number as usize];
                undefined.push(UndefinedSymbol {
                    symbol: variable.name.clone(),
                    user: user.map(|(user, _)| user.clone()),
                    input: name_of(user.map_or(declared_in, |(_, input)| *input)),
                });
            }
        }
        if undefined.is_empty() {
            Ok(())
        } else {
            Err(LinkError::Undefined(undefined))
        }
    }

    /// Checks that all constants fit together.
    fn check_constants(&self) -> Result<(), LinkError> {
        let bytes = self.module.const_bytes();
        if bytes <= MAX_CONST_BYTES {
            return Ok(());
        }
        let limit = MAX_CONST_BYTES;
        Err(LinkError::TooManyConstants { bytes, limit })
    }
}

impl Numbers {
    /// A source place of the input, with the linked module's numbers.
    fn place(&self, loc: SourceLoc) -> SourceLoc {
        let site = |CallSiteId(site)| CallSiteId(self.call_sites + site);
        SourceLoc {
            file: self.files.get(&loc.file).copied().unwrap_or(0),
            inlined_at: loc.inlined_at.map(site),
            ..loc
        }
    }
}
