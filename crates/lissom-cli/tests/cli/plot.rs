//! `--plot`: figures of every verb that has curves.

use super::Folder;

/// A quick run of the template.
const SHORT: [&str; 2] = ["--set", "simulation.duration_s=0.2"];

/// What a file of each format begins with.
const BEGINNINGS: [(&str, &[u8]); 3] = [
    ("png", b"\x89PNG\r\n\x1a\n"),
    ("svg", b"<svg "),
    ("pdf", b"%PDF-"),
];

fn width_mm(svg: &str) -> f64 {
    let (_, rest) = svg.split_once("width=\"").unwrap();
    let (width, _) = rest.split_once("mm").unwrap();
    width.parse().unwrap()
}

/// Property: every format is what its ending says, and the same input gives the same bytes.
#[test]
fn endings_choose_the_format() {
    let folder = Folder::new();
    let run = [
        &["run", "two-link-arm", "--quiet", "--out", "out"],
        &SHORT[..],
    ]
    .concat();
    folder.lissom(&run).says(0, &[]);
    for (ending, beginning) in BEGINNINGS {
        let [first, second] = ["first", "second"].map(|name| format!("{name}.{ending}"));
        for file in [&first, &second] {
            let answer = folder.lissom(&["report", "out", "--plot", file]);
            assert_eq!(answer.code, 0, "{}", answer.stderr);
        }
        let bytes = folder.read(&first);
        assert!(bytes.starts_with(beginning), "{ending}");
        assert!(bytes == folder.read(&second), "{ending}");
    }
    // only the plot was asked for
    assert!(!folder.path.join("out/report.html").exists());
}

/// Property: an SVG file has lines and the outlines of letters, in the size that was asked for.
#[test]
fn vectors_stay_vectors() {
    let folder = Folder::new();
    let words = |file: &str, more: &[&str]| -> String {
        let run = [
            "run",
            "two-link-arm",
            "--quiet",
            "--out",
            "out",
            "--plot",
            file,
        ];
        let run = [&run[..], &["--channels", "hand.position"], &SHORT, more];
        folder.lissom(&run.concat()).says(0, &[]);
        String::from_utf8(folder.read(file)).unwrap()
    };
    let usual = words("usual.svg", &[]);
    assert!((width_mm(&usual) - 160.0).abs() < 1e-3);
    for text in ["Time (s)", "Marker positions (m)", "hand.position.x"] {
        let outline = format!("aria-label=\"{text}\" d=\"M");
        assert!(usual.contains(&outline), "{text}");
    }
    assert!(usual.contains("stroke=\"#0072b2\"") && !usual.contains("<text"));
    assert!(!usual.contains("hand.velocity"));
    let small = words(
        "small.svg",
        &["--plot-width-mm", "85", "--plot-font-pt", "6"],
    );
    assert!((width_mm(&small) - 85.0).abs() < 1e-3);
}

/// Property: every verb with curves draws them, with the channels that were asked for.
#[test]
fn every_verb_with_curves_plots() {
    let folder = Folder::new();
    for (verb, words, shown) in [
        ("run", &SHORT[..], "shoulder.angle"),
        ("perturb", &["--points", "5"], "hand.position.x"),
        (
            "modes",
            &["--about", "nominal", "--points", "3"],
            "mode_1.frequency",
        ),
        (
            "compare",
            &["--with", "default,ruthless"],
            "hand.position.x · ruthless",
        ),
    ] {
        let file = format!("{verb}.svg");
        let mut line = vec![verb, "two-link-arm", "--plot", &file];
        line.extend(words);
        if verb != "modes" {
            line.extend(SHORT);
            line.extend(["--out", verb]);
        }
        let answer = folder.lissom(&line);
        assert_eq!(answer.code, 0, "{}", answer.stderr);
        assert!(answer.stdout.contains(&file), "{}", answer.stdout);
        let svg = String::from_utf8(folder.read(&file)).unwrap();
        assert!(svg.contains(&format!("aria-label=\"{shown}\"")), "{verb}");
    }
    let along = [
        "modes",
        "two-link-arm",
        "--about",
        "nominal",
        "--points",
        "3",
    ];
    let one = ["--plot", "one.svg", "--channels", "mode_2.frequency"];
    folder.lissom(&[&along[..], &one].concat()).says(0, &[]);
    let svg = String::from_utf8(folder.read("one.svg")).unwrap();
    assert!(svg.contains("\"mode_2.frequency\"") && !svg.contains("mode_1.frequency"));
}

/// Property: channels that find no room are named, unless nothing is to be said.
#[test]
fn what_is_left_out_is_told() {
    let folder = Folder::new();
    let plotted = |more: &[&str]| {
        let run = ["run", "planar-3rrr", "--out", "out", "--plot", "arm.svg"];
        let short = ["--set", "simulation.duration_s=0.02"];
        let answer = folder.lissom(&[&run[..], &short, more].concat());
        assert_eq!(answer.code, 0, "{}", answer.stderr);
        if more.contains(&"--json") {
            answer.stdout
        } else {
            answer.stderr
        }
    };
    // there are more joints than the six that a panel has room for
    let said = plotted(&[]);
    let (_, names) = said.split_once("The plot has no room for ").expect(&said);
    let (first, _) = names.split_once(',').unwrap();
    let svg = String::from_utf8(folder.read("arm.svg")).unwrap();
    assert!(
        first
            .rsplit_once('.')
            .is_some_and(|(_, quantity)| quantity == "angle"),
        "{first}"
    );
    assert!(!svg.contains(&format!("aria-label=\"{first}\"")));
    assert!(svg.contains("aria-label=\"motor_1.angle\""));
    assert!(!plotted(&["--quiet"]).contains("no room"));
    let answer: serde_json::Value = serde_json::from_str(&plotted(&["--json"])).unwrap();
    assert_eq!(answer["plot"]["file"], "arm.svg");
    assert_eq!(answer["plot"]["left_out"][0], first);
    let few = plotted(&["--channels", "tip_1.position"]);
    assert!(!few.contains("no room"), "{few}");
    // more than a page has room for
    let many = plotted(&["--channels", "link,tip,motor", "--plot-font-pt", "24"]);
    assert!(many.contains("no room"), "{many}");
}

/// Property: what cannot be drawn is wrong usage, before anything runs, and the words say what can.
#[test]
fn wrong_usage_is_explained() {
    let folder = Folder::new();
    for file in ["arm.jpg", "arm", "pdf"] {
        let answer = folder.lissom(&["run", "two-link-arm", "--plot", file]);
        answer.says(2, &[".png", ".svg", ".pdf"]);
    }
    assert!(!folder.path.join("results").exists());
    for (option, value) in [("--plot-width-mm", "4"), ("--plot-font-pt", "nan")] {
        let words = ["run", "two-link-arm", "--plot", "a.pdf", option, value];
        folder.lissom(&words).says(2, &["from"]);
    }
}
