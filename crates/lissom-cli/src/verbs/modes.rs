//! `lissom modes`: natural frequencies, damping and mode shapes, along a motion if wanted.

use std::f64::consts::TAU;

use lissom::shaping::shaped_modes;
use lissom::spec::{ShapedModeSpec, ShapingSpec};
use lissom::{
    Channel, Complex, Crossing, DrivenJoints, Frozen, Growth, ModeAt, ModesOptions, Recording,
    Terms, TrackedModes, mode_recording,
};
use lissom_io::load::Loaded;
use lissom_io::{atomic, csv};
use lissom_report::Chart;
use serde_json::{Value, json};

use super::linear;
use crate::arguments::{ModesArguments, ShaperArgument};
use crate::output::{AnswerArguments, counted, short};
use crate::plot::{CHANNELS, WithPlot};
use crate::source;
use crate::stop::Stop;

/// Modal assurance below which a mode is less like itself at the instant before than like all others together.
const RECOGNISED: f64 = 0.5;
/// Squares of frequencies that differ by less than this share belong to modes whose shapes small changes mix.
const ONE_FREQUENCY: f64 = 0.02;
/// Crossings of modes that are told one by one.
const TOLD: usize = 3;
/// Coordinates of a shape that are named in the table, and the part of the largest that they have at least.
const NAMED: (usize, f64) = (3, 0.1);

/// Prints the modes of a model.
pub(crate) fn run(arguments: &ModesArguments) -> Result<(), Stop> {
    (arguments.csv.as_deref()).map_or(Ok(()), atomic::refuse_unwritable)?;
    arguments.plot.refuse_unwritable()?;
    let loaded = source::load(&arguments.model.named()?)?;
    let silent = arguments.answer.is_silent();
    if arguments.joints.closed_loop {
        linear::refuse_without_controllers(&loaded)?;
    }
    let joints = DrivenJoints {
        free: arguments.joints.free,
        closed_loop: arguments.joints.closed_loop,
    };
    let options = ModesOptions {
        joints,
        terms: Terms::CASES[usize::from(arguments.case) - 1],
        count: arguments.count,
    };
    let (start, point) = (&arguments.start, &arguments.point);
    let (frozen, modes) = linear::modes_at(&loaded, start, point, options, silent)?;
    if modes.modes.is_empty() {
        return Err(Stop::Failed(nothing_vibrates(&frozen, &modes)));
    }
    let mut files = Vec::new();
    let recording = mode_recording(&modes);
    if let Some(path) = &arguments.csv {
        atomic::write(path, |out| csv::write(&recording, out))?;
        files.push(path.display().to_string());
    }
    let chart = || chart(&loaded, &recording, &arguments.channels.channels);
    let plot = (arguments.plot).write(arguments.answer, CHANNELS, chart)?;
    files.extend((plot.iter()).map(|plot| plot.file.display().to_string()));
    let shaping = (arguments.shaper)
        .map(|shaper| shaping(shaper, &modes, arguments.answer))
        .transpose()?;
    let mut answer = as_json(&loaded, &frozen, &modes, &files);
    if let Some(shaping) = &shaping {
        answer["shaping"] = json!(shaping);
    }
    let answer = WithPlot {
        answer: &answer,
        plot: plot.as_ref(),
    };
    (arguments.answer).give(&answer, || {
        let words = in_words(&loaded, &frozen, &modes, &files);
        shaping.map_or(words.clone(), |shaping| words + &shaping_in_words(&shaping))
    })
}

/// What shapes motions for the modes that vibrate, the lowest ones if there are more than a model takes.
fn shaping(
    shaper: ShaperArgument,
    modes: &TrackedModes,
    answer: AnswerArguments,
) -> Result<ShapingSpec, Stop> {
    let mut shaped = shaped_modes(modes);
    let (count, most) = (shaped.len(), ShapingSpec::MOST_MODES);
    if count > most {
        shaped.truncate(most);
        answer.warn(&format!(
            "warning: {count} of these modes vibrate, and a model takes {most} in [shaping]: it has the {most} lowest; each delays the motions, so leave out \
             those that die out by themselves, or ask for fewer with --count"
        ));
    }
    if shaped.is_empty() {
        return Err(Stop::Failed(
            "none of these modes vibrates, so that there is nothing to shape motions for"
                .to_owned(),
        ));
    }
    Ok(match shaper {
        ShaperArgument::Zv => ShapingSpec {
            zv: shaped,
            ..ShapingSpec::default()
        },
        ShaperArgument::Zvd => ShapingSpec {
            zvd: shaped,
            ..ShapingSpec::default()
        },
    })
}

/// The table of the model file.
fn shaping_in_words(shaping: &ShapingSpec) -> String {
    let list = |(key, modes): &(&str, &Vec<ShapedModeSpec>)| {
        let modes: Vec<String> = (modes.iter())
            .map(|mode| {
                format!(
                    "{{ frequency_rad_per_s = {:?}, damping_ratio = {:?} }}",
                    mode.frequency_rad_per_s, mode.damping_ratio
                )
            })
            .collect();
        format!("\n{key} = [{}]", modes.join(", "))
    };
    let given = [("zv", &shaping.zv), ("zvd", &shaping.zvd)];
    let given = given.iter().filter(|(_, modes)| !modes.is_empty());
    format!("\n\n[shaping]{}", given.map(list).collect::<String>())
}

/// Natural frequencies over time, or what was asked for of the modes.
fn chart<'a>(
    loaded: &Loaded,
    recording: &'a Recording,
    asked: &[String],
) -> Result<Chart<'a>, Stop> {
    if recording.len() < 2 {
        return Err(Stop::Usage(
            "a plot takes several instants; say --about nominal or --about run".to_owned(),
        ));
    }
    // growth and damping ratios have other units
    let is_frequency = |channel: &&Channel| channel.unit == "rad/s";
    let wanted = |channel: &&Channel| {
        let begins = |beginning: &String| channel.name.starts_with(beginning.as_str());
        match asked {
            [] => is_frequency(channel),
            asked => asked.iter().any(begins),
        }
    };
    let wanted: Vec<&Channel> = recording.channels.iter().filter(wanted).collect();
    let names: Vec<String> = wanted.iter().map(|channel| channel.name.clone()).collect();
    let label = if wanted.iter().all(is_frequency) {
        "Natural frequencies"
    } else {
        ""
    };
    let title = format!("{}: modes", loaded.name());
    Ok(Chart::of_recording(
        &title,
        recording,
        &[(label.to_owned(), names)],
    ))
}

/// Why there are no modes.
fn nothing_vibrates(frozen: &Frozen, modes: &TrackedModes) -> String {
    if modes.rigid.is_empty() && frozen.held.is_empty() {
        return "nothing is left to vibrate: no joint is free and no body bends".to_owned();
    }
    if modes.rigid.is_empty() {
        return format!(
            "nothing is left to vibrate: {} held and no body bends; --free leaves joints free",
            names(&frozen.held, frozen)
        );
    }
    format!(
        "nothing vibrates: nothing resists {}, and no other motion is left",
        names(&modes.rigid, frozen)
    )
}

fn names(coordinates: &[usize], frozen: &Frozen) -> String {
    let names = coordinates.iter();
    let names: Vec<&str> = names
        .map(|&dof| frozen.coordinates[dof].name.as_str())
        .collect();
    names.join(", ")
}

fn as_json(loaded: &Loaded, frozen: &Frozen, modes: &TrackedModes, files: &[String]) -> Value {
    let labels = &frozen.coordinates;
    let names = |dofs: &[usize]| -> Vec<&str> {
        dofs.iter().map(|&dof| labels[dof].name.as_str()).collect()
    };
    let parts = |value: &Complex<f64>| [value.re, value.im];
    let mode = |mode: &Vec<ModeAt>| {
        let each = |value: fn(&ModeAt) -> Option<f64>| mode.iter().map(value).collect::<Vec<_>>();
        let roots = mode
            .iter()
            .map(|at| at.roots.map(|roots| roots.map(|root| parts(&root))));
        let growth = mode.iter().map(|at| match at.growth {
            Growth::None => "none",
            Growth::AtLimit => "at_limit",
            Growth::Grows => "grows",
        });
        json!({
            "frequency_rad_per_s": each(ModeAt::frequency),
            "frequency_hz": each(|at| at.frequency().map(|x| x / TAU)),
            "frequency_squared": each(|at| Some(at.square.re)),
            "growth": growth.collect::<Vec<_>>(),
            "growth_per_s": each(|at| Some(at.growth_rate())),
            "damping_ratio": each(ModeAt::damping_ratio),
            "eigenvalues": roots.collect::<Vec<_>>(),
            "mac": each(|at| Some(at.mac)),
            "shape": mode.iter().map(|at| &at.shape).collect::<Vec<_>>(),
        })
    };
    let growing = modes
        .growing
        .iter()
        .map(|all| all.iter().map(parts).collect());
    let further = modes.further.iter();
    let further = further.map(|all| all.iter().map(parts).collect());
    json!({
        "model": loaded.name(),
        "time_s": modes.times,
        "degrees_of_freedom": freedoms(frozen),
        "coordinates": names(&modes.coordinates),
        "held": names(&frozen.held),
        "rigid_motions": names(&modes.rigid),
        "growing": growing.collect::<Vec<Vec<_>>>(),
        "further": further.collect::<Vec<Vec<_>>>(),
        "judged": if modes.judged_all { "all" } else { "lowest" },
        "encounters": modes.encounters.iter().map(|met| json!({
            "time_s": met.time,
            "modes": met.modes.iter().map(|mode| mode + 1).collect::<Vec<_>>(),
            "kind": met.kind.key(),
        })).collect::<Vec<_>>(),
        "modes": modes.modes.iter().map(mode).collect::<Vec<_>>(),
        "files": files,
    })
}

fn in_words(loaded: &Loaded, frozen: &Frozen, modes: &TrackedModes, files: &[String]) -> String {
    let mut lines = vec![format!(
        "{}: {}, {}",
        loaded.name(),
        in_coordinates(frozen, modes),
        if frozen.held.is_empty() {
            "no joint held".to_owned()
        } else {
            format!("{} held", names(&frozen.held, frozen))
        }
    )];
    if !modes.rigid.is_empty() {
        lines.push(format!("  {}", freely(frozen, modes)));
    }
    if let [time] = modes.times[..] {
        lines.push(format!("  at {} s", short(time)));
        lines.extend(at_one_instant(frozen, modes));
    } else {
        let ends = [modes.times.first(), modes.times.last()].map(|t| t.map_or(0.0, |t| *t));
        lines.push(format!(
            "  {} from {} to {} s; frequencies in rad/s, without velocity terms",
            counted(modes.times.len(), "instant"),
            short(ends[0]),
            short(ends[1])
        ));
        lines.extend(along_a_motion(frozen, modes));
    }
    lines.extend(growth(modes));
    if !modes.judged_all {
        lines.push(
            "  the lowest modes alone were computed: whether higher ones grow is not judged"
                .to_owned(),
        );
    }
    if !files.is_empty() {
        lines.push(format!("\nWrote {}.", files.join(" and ")));
    }
    lines.join("\n")
}

/// How many coordinates can move by themselves; none where the formulation gave its lowest modes alone.
fn freedoms(frozen: &Frozen) -> Option<usize> {
    let point = frozen.points.first()?;
    point.gross.is_none().then(|| point.basis.ncols())
}

/// Coordinates that are not held, and how many of them can move by themselves: loops tie some of them.
fn in_coordinates(frozen: &Frozen, modes: &TrackedModes) -> String {
    let coordinates = counted(modes.coordinates.len(), "coordinate");
    match freedoms(frozen) {
        Some(freedoms) if freedoms < modes.coordinates.len() => {
            format!("{freedoms} degrees of freedom in {coordinates}")
        }
        _ => coordinates,
    }
}

/// What moves without resistance.
fn freely(frozen: &Frozen, modes: &TrackedModes) -> String {
    let which = names(&modes.rigid, frozen);
    let whole = modes.rigid == frozen.rigid;
    let modes_are = "at no frequency; its modes are those without momentum";
    if whole {
        return format!(
            "floats: {which} move it as a whole, {modes_are}, and whether it tumbles is not judged"
        );
    }
    let count = counted(modes.rigid.len(), "motion");
    format!("moves freely: {count} that nothing resists, told by {which}, {modes_are}")
}

/// Natural frequency without velocity terms.
fn frequency(at: &ModeAt) -> String {
    at.frequency().map_or("-".to_owned(), short)
}

/// Both eigenvalues with all terms.
fn eigenvalues(at: &ModeAt) -> String {
    match at.roots {
        None => "-".to_owned(),
        Some([first, _]) if first.im != 0.0 => eigenvalue(&first),
        Some([first, second]) => format!("{}, {}", short(first.re), short(second.re)),
    }
}

/// A real eigenvalue, or a conjugate pair.
fn eigenvalue(value: &Complex<f64>) -> String {
    match (value.re, value.im) {
        (re, 0.0) => short(re),
        (0.0, im) => format!("±{}i", short(im)),
        (re, im) => format!("{} ±{}i", short(re), short(im)),
    }
}

/// What becomes of it, if that has to be said.
fn becomes(at: &ModeAt) -> String {
    match at.growth {
        Growth::None => String::new(),
        Growth::AtLimit => "at the limit".to_owned(),
        Growth::Grows => format!("grows {}/s", short(at.growth_rate())),
    }
}

fn at_one_instant(frozen: &Frozen, modes: &TrackedModes) -> Vec<String> {
    let texts: Vec<[String; 5]> = (modes.modes.iter())
        .map(|mode| {
            let at = &mode[0];
            let hertz = at.frequency().map_or("-".to_owned(), |x| short(x / TAU));
            let ratio = at.damping_ratio().map_or("-".to_owned(), short);
            [frequency(at), hertz, ratio, eigenvalues(at), becomes(at)]
        })
        .collect();
    // what becomes of modes has a column if there is something to say
    let heads = ["rad/s", "Hz", "damping", "eigenvalues 1/s", ""];
    let widths: [usize; 5] = std::array::from_fn(|column| {
        let longest = texts
            .iter()
            .map(|texts| texts[column].chars().count())
            .max();
        longest.unwrap_or(0).max(heads[column].len())
    });
    let line = |number: &str, texts: [&str; 5], shape: &str| {
        let columns = texts
            .into_iter()
            .zip(widths)
            .filter(|(_, width)| *width > 0);
        let columns: Vec<String> = columns
            .map(|(text, width)| format!("{text:>width$}"))
            .collect();
        format!("  {number:>4}  {}  {shape}", columns.join("  "))
    };
    let mut lines = vec![line("mode", heads, "shape")];
    for (i, (mode, texts)) in modes.modes.iter().zip(&texts).enumerate() {
        let shape = shape(&mode[0].shape, &modes.coordinates, frozen);
        lines.push(line(
            &(i + 1).to_string(),
            texts.each_ref().map(String::as_str),
            &shape,
        ));
    }
    let further: Vec<String> = (modes.further.iter().flatten()).map(eigenvalue).collect();
    if !further.is_empty() {
        lines.push(format!(
            "  states of controllers and actuators add eigenvalues {}",
            further.join(", ")
        ));
    }
    lines
}

fn along_a_motion(frozen: &Frozen, modes: &TrackedModes) -> Vec<String> {
    let mut lines = vec![format!(
        "  {:>4}  {:>14}  {:>14}  {:>14}  {:>14}  shape at first",
        "mode", "first", "smallest", "largest", "last"
    )];
    for (i, mode) in modes.modes.iter().enumerate() {
        // where the stiffness pushes away there is no frequency
        let low = |at: &ModeAt| at.frequency().unwrap_or(at.square.re);
        let by_square = |a: &&ModeAt, b: &&ModeAt| low(a).total_cmp(&low(b));
        let picked = [
            mode.first(),
            mode.iter().min_by(by_square),
            mode.iter().max_by(by_square),
            mode.last(),
        ];
        let texts: Vec<String> = (picked.iter().flatten())
            .map(|at| format!("{:>14}", frequency(at)))
            .collect();
        lines.push(format!(
            "  {:>4}  {}  {}",
            i + 1,
            texts.join("  "),
            shape(&mode[0].shape, &modes.coordinates, frozen)
        ));
    }
    lines.extend(encounters(modes));
    lines.extend(changed_beyond_recognition(modes));
    lines
}

/// Where instants are so far apart that a mode is less like itself at the one before than like others.
fn changed_beyond_recognition(modes: &TrackedModes) -> Option<String> {
    // of two modes with one frequency any two mixtures are modes too
    let is_alone = |i: usize, at: usize| {
        let square = |mode: usize| modes.modes[mode][at].square;
        let near = |j: usize| (square(j) - square(i)).norm() <= ONE_FREQUENCY * square(i).norm();
        !(0..modes.modes.len()).any(|j| j != i && near(j))
    };
    let changes = |i: usize| {
        let instants = (1..modes.times.len()).filter(|&at| is_alone(i, at - 1) && is_alone(i, at));
        let assurances = instants.map(|at| (modes.modes[i][at].mac, modes.times[at]));
        let worst = assurances.min_by(|a, b| a.0.total_cmp(&b.0))?;
        (worst.0 < RECOGNISED).then_some(worst)
    };
    let changed: Vec<(usize, (f64, f64))> = (0..modes.modes.len())
        .filter_map(|i| Some((i + 1, changes(i)?)))
        .collect();
    let &(worst, (assurance, time)) = changed.iter().min_by(|a, b| a.1.0.total_cmp(&b.1.0))?;
    let others = match changed.len() - 1 {
        0 => String::new(),
        1 => ", and another mode".to_owned(),
        others => format!(", and {others} other modes"),
    };
    Some(format!(
        "  warning: mode {worst}{others} changes so much from one instant to the next, most of all before {} s (modal assurance \
         {assurance:.2}), that curves may have swapped or have peaks in between; take more --points, or instants --at closer together there",
        short(time)
    ))
}

/// What grows with all terms: along a motion, and beyond the modes that are shown.
fn growth(modes: &TrackedModes) -> Option<String> {
    let shown = modes.modes.iter().flatten();
    let most = modes.growing.iter().map(Vec::len).max()?;
    let all = modes.growing.iter().flatten();
    let fastest = all.max_by(|a, b| a.re.total_cmp(&b.re))?;
    let how = if fastest.im == 0.0 {
        "without oscillating".to_owned()
    } else {
        format!("oscillating at {} rad/s", short(fastest.im))
    };
    let rate = short(fastest.re);
    if let [_] = modes.times[..] {
        let told = shown.filter(|at| at.growth == Growth::Grows).count();
        return (told < most).then(|| {
            format!(
                "  warning: {} with velocity terms, the fastest at {rate}/s, {how}; --count shows more modes",
                if most == 1 { "one motion grows".to_owned() } else { format!("{most} motions grow") }
            )
        });
    }
    let instants = modes.growing.iter().filter(|all| !all.is_empty()).count();
    Some(format!(
        "  with velocity terms something grows at {} of {} instants, at most {rate}/s, {how}",
        instants,
        modes.times.len()
    ))
}

/// Where numbers of modes are a convention.
fn encounters(modes: &TrackedModes) -> Vec<String> {
    let told = modes.encounters.iter().take(TOLD).map(|met| {
        let numbers: Vec<String> = met.modes.iter().map(|mode| (mode + 1).to_string()).collect();
        let (which, time) = (numbers.join(" and "), short(met.time));
        match met.kind {
            Crossing::Coalescence => {
                format!("  at {time} s modes {which} coalesce without velocity terms: one frequency")
            }
            Crossing::Separation => format!(
                "  at {time} s modes {which} part again: which of them is which is a convention"
            ),
            Crossing::Ambiguity => format!(
                "  warning: before {time} s modes {which} cannot be told apart; with more --points they may be"
            ),
            Crossing::Untracked => format!(
                "  warning: before {time} s the equations change so much that modes {which} could not be followed, and may have \
                 swapped; take more --points, or instants --at closer together there"
            ),
        }
    });
    let more = modes.encounters.len().saturating_sub(TOLD);
    let rest = (more > 0).then(|| format!("  and {more} more times; --json has them all"));
    told.chain(rest).collect()
}

/// The largest coordinates of a shape.
fn shape(shape: &[f64], coordinates: &[usize], frozen: &Frozen) -> String {
    let labels = &frozen.coordinates;
    let mut order: Vec<usize> = (0..shape.len()).collect();
    order.sort_by(|&i, &j| shape[j].abs().total_cmp(&shape[i].abs()));
    let largest = order.first().map_or(0.0, |&i| shape[i].abs());
    let named: Vec<String> = (order.iter().take(NAMED.0))
        .filter(|&&i| shape[i].abs() >= NAMED.1 * largest)
        .map(|&i| {
            let part = shape[i] / largest;
            format!("{} {part:+.2}", labels[coordinates[i]].name)
        })
        .collect();
    named.join(", ")
}
