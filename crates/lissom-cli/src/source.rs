//! Where a model comes from: a file, or one that is shipped.

use std::io::{self, IsTerminal};
use std::path::Path;

use lissom::{Override, State};
use lissom_io::load::{self, LoadError, Loaded, ModelFile};
use lissom_io::models::ShippedModel;
use lissom_io::{models, state};
use lissom_spec::nearest;

use crate::arguments::{NamedModel, StartArguments};
use crate::output::short;
use crate::stop::Stop;
use crate::{diagnostics, output};

/// A model by the path of its file or by the name of a shipped one; a file goes first. It is read once, however many changes it is loaded with.
pub(crate) struct Model<'n> {
    named: &'n NamedModel,
    text: Text,
}

/// Where the text of a model comes from.
enum Text {
    Shipped(ShippedModel),
    File(ModelFile),
}

impl<'n> Model<'n> {
    /// Reads the model that was named.
    pub(crate) fn of(named: &'n NamedModel) -> Result<Self, Stop> {
        let path = Path::new(&named.name);
        let text = match models::find(&named.name) {
            Some(shipped) if !path.is_file() => Text::Shipped(shipped),
            None if !path.exists() && is_bare(path) => {
                return Err(Stop::Failed(unknown(&named.name)));
            }
            _ => Text::File(ModelFile::read(path).map_err(|error| diagnosed(&error))?),
        };
        Ok(Self { named, text })
    }

    /// The model with the changes that were named.
    pub(crate) fn load(&self) -> Result<Loaded, Stop> {
        self.load_with(&[]).map_err(|error| diagnosed(&error))
    }

    /// The same with more changes.
    pub(crate) fn load_with(&self, more: &[Override]) -> Result<Loaded, LoadError> {
        let overrides = [&self.named.overrides, more].concat();
        match &self.text {
            Text::Shipped(model) => load::load_text(model.name, model.text, &overrides),
            Text::File(file) => file.load(&overrides),
        }
    }

    /// The text, where it is one that no option changes.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.text {
            _ if !self.named.overrides.is_empty() => None,
            Text::Shipped(model) => Some(model.text),
            Text::File(file) => file.text(),
        }
    }
}

/// Loads the model that was named.
pub(crate) fn load(named: &NamedModel) -> Result<Loaded, Stop> {
    Model::of(named)?.load()
}

fn diagnosed(error: &LoadError) -> Stop {
    Stop::Diagnosed(diagnostics::render(error))
}

/// The state that a study begins at: the one that the user names, or the model's own.
pub(crate) fn start(loaded: &Loaded, arguments: &StartArguments) -> Result<State, Stop> {
    match named_state(loaded, arguments)? {
        Some(state) => Ok(state),
        None => Ok(loaded.mechanism.start()?),
    }
}

/// The state that the user names, if any.
pub(crate) fn named_state(
    loaded: &Loaded,
    StartArguments { from }: &StartArguments,
) -> Result<Option<State>, Stop> {
    let named = from
        .as_ref()
        .map(|from| state::named(from, &loaded.mechanism));
    named
        .transpose()
        .map_err(|error| Stop::Failed(format!("--from {error}")))
}

/// The same for a study of a motion, which must not have ended there.
pub(crate) fn named_state_on_the_way(
    loaded: &Loaded,
    arguments: &StartArguments,
) -> Result<Option<State>, Stop> {
    let state = named_state(loaded, arguments)?;
    let simulation = &loaded.spec.simulation;
    match (&state, &arguments.from) {
        (Some(state), Some(from)) if state.time_s >= simulation.end_s() => {
            Err(Stop::Usage(format!(
                "--from {from} is at {} s, where the simulation ends; go on with --set simulation.duration_s={}",
                short(state.time_s),
                2.0 * (state.time_s - simulation.start_s)
            )))
        }
        _ => Ok(state),
    }
}

/// The state that a study of a motion begins at, which must not have ended there.
pub(crate) fn start_on_the_way(loaded: &Loaded, arguments: &StartArguments) -> Result<State, Stop> {
    match named_state_on_the_way(loaded, arguments)? {
        Some(state) => Ok(state),
        None => start(loaded, arguments),
    }
}

/// Refuses beginnings of channels that no channel of the model has.
pub(crate) fn refuse_unknown_channels(loaded: &Loaded, beginnings: &[String]) -> Result<(), Stop> {
    // a model that cannot be placed says so when it runs
    let Ok(signals) = loaded.mechanism.signals() else {
        return Ok(());
    };
    match signals.unknown(beginnings).first() {
        Some(beginning) => {
            let names = signals.iter().map(|signal| signal.name.as_str());
            let remedy = match nearest(beginning, names) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`lissom run MODEL --json` lists the channels".to_owned(),
            };
            Err(Stop::Usage(format!(
                "--channels: no channel of {} begins with `{beginning}`; {remedy}",
                loaded.label
            )))
        }
        None => Ok(()),
    }
}

/// Whether somebody may have meant a name rather than a file.
fn is_bare(path: &Path) -> bool {
    path.components().count() == 1 && path.extension().is_none()
}

/// What to say of a name that is neither a file nor a shipped model.
pub(crate) fn unknown(name: &str) -> String {
    let names = models::all().iter().map(|model| model.name);
    let files = ["toml", "urdf"].map(|ending| format!("{name}.{ending}"));
    let file = files.into_iter().find(|file| Path::new(file).is_file());
    let near = file.or_else(|| nearest(name, names).map(str::to_owned));
    let suggestion = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the shipped models are {}", listed()),
    };
    format!("there is no file `{name}` and no shipped model of that name; {suggestion}")
}

fn listed() -> String {
    let names: Vec<&str> = models::all().iter().map(|model| model.name).collect();
    names.join(", ")
}

/// Lets the user choose a shipped model, or says how to name one where nobody can be asked.
pub(crate) fn choose() -> Result<String, Stop> {
    output::say("The models that come with lissom:\n");
    let shipped = models::all();
    let widest = shipped.iter().map(|model| model.name.len()).max();
    let width = widest.unwrap_or(0) + 2;
    for (index, model) in shipped.iter().enumerate() {
        output::say(&format!(
            "  {:>2}  {:<width$}{}",
            index + 1,
            model.name,
            model.title
        ));
    }
    if !io::stdin().is_terminal() || !output::is_watched() {
        return Err(Stop::Usage(format!(
            "which model? name a file or one of the above, for example {}",
            shipped[0].name
        )));
    }
    output::say_unfinished("\nNumber or name of the model [1]: ");
    let mut answer = String::new();
    let read = io::stdin().read_line(&mut answer).unwrap_or(0);
    let answer = answer.trim();
    if read == 0 {
        return Err(Stop::Usage("no model was chosen".to_owned()));
    }
    let number = if answer.is_empty() {
        Ok(1)
    } else {
        answer.parse::<usize>()
    };
    match number {
        Ok(number) => (number.checked_sub(1))
            .and_then(|index| shipped.get(index))
            .map(|model| model.name.to_owned())
            .ok_or_else(|| {
                Stop::Usage(format!(
                    "there are models 1 to {}, not {number}",
                    shipped.len()
                ))
            }),
        Err(_) => Ok(answer.to_owned()),
    }
}
