//! Extreme numbers in every place of every shipped model: an error that says what to do, or a run; never a panic, never an end that
//! does not come.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use lissom::{ErrorKind, Flow, Mechanism, ModelError, ModelSpec, SimulateOptions};
use lissom_io::models;
use toml::Value;

/// What a slip of the pen may write.
const EXTREMES: [f64; 7] = [0.0, -1.0, 1e300, -1e300, 5e-324, 1e-300, 1e-30];

/// Steps after which a run has shown that it goes.
const STEPS: usize = 10;

/// A model of what shipped ones have little of: sensors, controllers, profiles and shaping.
const CONTROL: &str = include_str!("../../../lissom-fuzz/seeds/control/model.toml");

/// The numbers of a document, by the keys and indices that lead to them. Of a list the first one stands for all.
fn numbers(value: &Value, path: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    match value {
        Value::Float(_) | Value::Integer(_) => found.push(path.clone()),
        Value::Array(items) => {
            let count = if items.first().is_some_and(Value::is_table) {
                items.len()
            } else {
                1
            };
            for (index, item) in items.iter().take(count).enumerate() {
                path.push(index.to_string());
                numbers(item, path, found);
                path.pop();
            }
        }
        Value::Table(table) => {
            for (key, item) in table {
                path.push(key.clone());
                numbers(item, path, found);
                path.pop();
            }
        }
        _ => {}
    }
}

fn put(value: &mut Value, path: &[String], number: f64) {
    let Some((first, rest)) = path.split_first() else {
        // whole numbers stay whole
        *value = match value {
            #[expect(clippy::cast_possible_truncation, reason = "a cast saturates")]
            Value::Integer(_) => Value::Integer(number as i64),
            _ => Value::Float(number),
        };
        return;
    };
    let inside = match value {
        Value::Array(items) => &mut items[first.parse::<usize>().unwrap()],
        Value::Table(table) => table.get_mut(first).unwrap(),
        _ => unreachable!(),
    };
    put(inside, rest, number);
}

/// Reads, builds and runs a model for a few steps.
fn try_out(text: &str) {
    let spec = match ModelSpec::parse(text, &[]) {
        Ok(spec) => spec,
        Err(errors) => {
            assert!(!errors.is_empty());
            for error in errors {
                assert!(!error.to_string().is_empty() && !error.remedy().is_empty());
            }
            return;
        }
    };
    let Ok(mechanism) = Mechanism::build(&spec) else {
        return;
    };
    let Ok(start) = mechanism.start() else { return };
    let simulation = &mechanism.spec().simulation;
    let samples = [simulation.start_s];
    let options = SimulateOptions {
        samples: &samples,
        channels: None,
        most_lengths: f64::INFINITY,
    };
    let mut steps = 0;
    mechanism.simulate(&start, simulation, &options, &mut |_| {
        steps += 1;
        if steps < STEPS {
            Flow::Continue
        } else {
            Flow::Stop
        }
    });
}

/// Numbers of one key, in items of one list, that are tried: the others are numbers of the same kind.
const ALIKE: usize = 3;

/// Every kind of number of every model, each with every extreme, or with one in `share` of them.
fn try_extremes(share: usize) {
    let mut case = 0;
    let mut panicked = Vec::new();
    let shipped = models::all().iter().map(|model| (model.name, model.text));
    for (name, text) in shipped.chain([("control", CONTROL)]) {
        let document: Value = Value::Table(text.parse().unwrap());
        let mut found = Vec::new();
        numbers(&document, &mut Vec::new(), &mut found);
        let mut tried = BTreeMap::new();
        found.retain(|path| {
            let is_key = |step: &&String| step.parse::<usize>().is_err();
            let kind: Vec<String> = path.iter().filter(is_key).cloned().collect();
            let alike: &mut usize = tried.entry(kind).or_default();
            *alike += 1;
            *alike <= ALIKE
        });
        for path in found {
            for extreme in EXTREMES {
                case += 1;
                if case % share != 0 {
                    continue;
                }
                let mut changed = document.clone();
                put(&mut changed, &path, extreme);
                let text = toml::to_string(&changed).unwrap();
                if catch_unwind(AssertUnwindSafe(|| try_out(&text))).is_err() {
                    panicked.push(format!("{name} {} = {extreme:e}", path.join(".")));
                }
            }
        }
    }
    assert!(panicked.is_empty(), "{panicked:#?}");
}

/// All of them, which takes minutes, where `LISSOM_THOROUGH` is set.
#[test]
fn extreme_numbers_are_refused_or_run() {
    let thorough = std::env::var_os("LISSOM_THOROUGH").is_some();
    try_extremes(if thorough { 1 } else { 41 });
}

/// Property: where zero is refused, so is the smallest number that there is, whose quotients are no numbers.
#[test]
fn what_is_refused_at_zero_is_refused_next_to_it() {
    const FORMAT: [&str; 3] = [
        CONTROL,
        include_str!("../../../lissom-engine/tests/engine/model_errors/documented.toml"),
        include_str!("../../../lissom-engine/tests/engine/model_errors/sound.toml"),
    ];
    let mut accepted = Vec::new();
    for text in models::all().iter().map(|model| model.text).chain(FORMAT) {
        let document: Value = Value::Table(text.parse().unwrap());
        let mut found = Vec::new();
        numbers(&document, &mut Vec::new(), &mut found);
        let is_refused = |path: &[String], number: f64| {
            let mut changed = document.clone();
            put(&mut changed, path, number);
            let text = toml::to_string(&changed).unwrap();
            ModelSpec::parse(&text, &[]).is_err()
        };
        // an end after a beginning at zero, and nodes that are not in one place
        let is_relative = |path: &[String]| {
            path.ends_with(&["until_s".to_owned()]) || path.contains(&"position_m".to_owned())
        };
        found.retain(|path| {
            !is_relative(path) && is_refused(path, 0.0) && !is_refused(path, 5e-324)
        });
        accepted.extend(found.iter().map(|path| path.join(".")));
    }
    accepted.sort_unstable();
    accepted.dedup();
    assert!(accepted.is_empty(), "{accepted:#?}");
}

/// Texts that are made to take long: what is said is one line, or few, at once.
#[test]
fn large_and_deep_texts_are_refused_in_time() {
    let many = (0..300_000).map(|i| format!("k{i} = 1\n"));
    let many = format!("format = 1\n{}", many.collect::<String>());
    let errors = ModelSpec::parse(&many, &[]).unwrap_err();
    assert!((100..=2000).contains(&errors.len()), "{}", errors.len());
    let first = errors.iter().find_map(|error| error.locate(&many)).unwrap();
    assert_eq!(&many[first], "k0");

    let key = vec!["a"; 1000].join(".");
    for line in [format!("{key} = 1"), format!("[{key}]")] {
        let deep = format!("format = 1\n{line}\n");
        let errors = ModelSpec::parse(&deep, &[]).unwrap_err();
        let place = errors[0].locate(&deep).unwrap();
        assert!(
            errors[0].to_string().contains("too many parts"),
            "{}",
            errors[0]
        );
        assert_eq!(
            deep[..place.start].lines().count(),
            2 - usize::from(line.starts_with('a'))
        );
    }
}

/// Long models in which everything is wrong: the time to say so grows with their length, not with its square.
#[test]
fn long_models_are_refused_in_time() {
    const BODIES: usize = 10_000;
    let pair = |i: usize, mass: &str, parent: &str| {
        format!(
            "[[body]]\nname = \"b{i}\"\nrigid = {{ mass_kg = {mass}, inertia_kg_m2 = [1.0, 1.0, 1.0] }}\n\
             [[joint]]\nname = \"j{i}\"\nparent = \"{parent}\"\nchild = \"b{i}\"\nrevolute = {{ axis = [0.0, 0.0, 1.0] }}\n"
        )
    };
    // of wrong types no more are told than anybody reads: a long list of them would fill the memory
    for (mass, parent, told) in [
        ("-1.0", "ground", BODIES..=BODIES),
        ("1.0", "grnd", BODIES..=3 * BODIES),
        ("\"x\"", "ground", 100..=2000),
    ] {
        let pairs: String = (0..BODIES).map(|i| pair(i, mass, parent)).collect();
        let errors = ModelSpec::parse(&format!("format = 1\n{pairs}"), &[]).unwrap_err();
        assert!(
            told.contains(&errors.len()),
            "{mass}, {parent}: {}",
            errors.len()
        );
        assert!(!errors[0].remedy().is_empty());
    }

    let name = "n".repeat(1_000_000);
    let marker = format!("[[marker]]\nname = \"m\"\nbody = \"{name}x\"\n");
    let long = pair(0, "1.0", "ground").replace("b0", &name);
    let text = format!("format = 1\n{long}{marker}");
    let errors = ModelSpec::parse(&text, &[]).unwrap_err();
    let says = |words: &str| errors.iter().any(|error| error.to_string().contains(words));
    assert!(says("has 1000000 characters") && says("nx"));
}

/// Many wrong names among many that are known: the time and the memory that it takes to say so grow with their number, not with its square or
/// cube.
#[test]
fn many_wrong_names_are_refused_in_time() {
    const MANY: usize = 4000;
    /// Problems that are explained by what else is there.
    const EXPLAINED: usize = 100;
    let all = |item: &dyn Fn(usize) -> String| (0..MANY).map(item).collect::<String>();
    let body = "format = 1\n[[body]]\nname = \"a\"\nrigid = { mass_kg = 1.0, inertia_kg_m2 = [1.0, 1.0, 1.0] }\n";
    let joint = |name: &str| {
        format!(
            "[[joint]]\nname = \"{name}\"\nparent = \"ground\"\nchild = \"a\"\nrevolute = {{ axis = [0.0, 0.0, 1.0] }}\n"
        )
    };
    let problems = |text: &str| ModelSpec::parse(text, &[]).unwrap_err();

    // joints beside each other, all but one of which are cut, and half of which are prescribed
    let joints = all(&|i| joint(&format!("j{i}")));
    let motions = all(&|i| {
        format!(
            "[[motion]]\njoint = \"j{}\"\nconstant_rate = {{ rate_rad_per_s = 1.0 }}\n",
            i / 2
        )
    });
    let errors = problems(&format!("{body}{joints}{motions}"));
    let listed = errors.iter().map(|error| match &error.kind {
        ErrorKind::CutPrescribed { instead, .. } => instead.len(),
        _ => 0,
    });
    assert!(listed.sum::<usize>() <= EXPLAINED * MANY);
    assert!(errors.len() >= MANY / 2 - 1, "{}", errors.len());

    let nodes = all(&|i| format!("[[body.node]]\nname = \"n{i}\"\nposition_m = [0.0, 0.0, 0.0]\n"));
    let payloads = all(&|i| {
        format!("[[payload]]\nname = \"p{i}\"\nbody = \"a\"\nat = \"m{i}\"\nmass_kg = 1.0\n")
    });
    let errors = problems(&format!("{body}{nodes}{}{payloads}", joint("j")));
    assert_eq!(errors.len(), MANY);
    let listed = errors.iter().map(|error| match &error.kind {
        ErrorKind::UnknownPlace { known, .. } => known.len(),
        _ => 0,
    });
    let listed: Vec<usize> = listed.collect();
    assert!(listed[0] > MANY && listed[MANY - 1] == 0);
    assert!(listed.iter().sum::<usize>() <= EXPLAINED * (MANY + 2));

    let interfaces = all(&|i| format!("{{ name = \"interface_{i}\" }}, "));
    let matrices = all(&|i| {
        format!("{{ file = \"f\", force = {{ at = \"interfaces_{i}\", along = \"x\" }} }}, ")
    });
    let mesh = format!(
        "format = 1\n[[body]]\nname = \"a\"\n[body.mesh]\nfile = \"a.csv\"\nbasis.clamped_free.modes = 2\n\
         interface = [{interfaces}]\n\
         matrices = {{ mass = \"m\", stiffness = \"k\", geometric_stiffness = [{matrices}] }}\n{}",
        joint("j")
    );
    let suggested = |errors: &[ModelError]| {
        let is_suggested = |error: &&ModelError| error.remedy().starts_with("did you mean");
        errors.iter().filter(is_suggested).count()
    };
    let errors = problems(&mesh);
    assert_eq!((errors.len(), suggested(&errors)), (MANY, EXPLAINED));

    let coordinates = all(&|i| format!("v_{} = 0.1\n", i + 1000));
    let beam = format!(
        "format = 1\n[[body]]\nname = \"a\"\n[body.beam]\nlength_m = 1.0\nmass_per_length_kg_per_m = 1.0\n\
         bending_stiffness_y_n_m2 = 1.0\nbasis.elements.count = 200\n[body.initial.elastic]\n{coordinates}{}",
        joint("j")
    );
    let errors = problems(&beam);
    assert_eq!((errors.len(), suggested(&errors)), (MANY, EXPLAINED));
}

/// Many controllers that measure many sensors: every one of them is looked for among all, which takes no copies of their names.
#[test]
fn many_sensors_are_found_in_time() {
    const SENSORS: usize = 20_000;
    const CONTROLLERS: usize = 2000;
    let body = "format = 1\n[[body]]\nname = \"a\"\nrigid = { mass_kg = 1.0, inertia_kg_m2 = [1.0, 1.0, 1.0] }\n\
         [[joint]]\nname = \"j\"\nparent = \"ground\"\nchild = \"a\"\nrevolute = { axis = [0.0, 0.0, 1.0] }\n";
    let sensors = (0..SENSORS)
        .map(|i| format!("[[sensor]]\nname = \"s{i}\"\nencoder = {{ joint = \"j\" }}\n"));
    let controllers = (0..CONTROLLERS).map(|i| {
        format!(
            "[[controller]]\nname = \"c{i}\"\nmeasures = [\"s{}\"]\ndrives = [\"j\"]\nstate_space = {{ d = [[1.0]] }}\n",
            SENSORS - 1
        )
    });
    let all: String = sensors.chain(controllers).collect();
    let spec = ModelSpec::parse(&format!("{body}{all}"), &[]).unwrap();
    let measured: Vec<Option<String>> = spec.measured_by(&spec.controller[0]).collect();
    assert_eq!(measured, [Some(format!("s{}", SENSORS - 1))]);
}
