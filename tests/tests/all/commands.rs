//! `cargo xtask` lists the commands of `lockstep`: no more, no less.

#[path = "../../../xtask/src/commands.rs"]
mod typed;

#[test]
fn xtask_lists_the_commands_that_lockstep_has() {
    let program = cli::commands::command();
    let own: Vec<_> = program
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .map(|command| {
            let about = command.get_about().map(ToString::to_string);
            (command.get_name().to_owned(), about.unwrap_or_default())
        })
        .collect();
    let listed = typed::commands().into_iter();
    let listed: Vec<_> = listed
        .map(|(name, about)| (name.to_owned(), about.to_owned()))
        .collect();
    assert_eq!(listed, own);
}
