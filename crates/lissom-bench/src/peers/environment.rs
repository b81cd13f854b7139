//! The other programs, in an environment of their own below `target/`.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::front::Line;

/// Packages and versions that are measured.
const PACKAGES: [&str; 4] = ["exudyn==1.13.6", "mujoco==4.0.0", "pin==4.1.0", "numpy"];

/// A Python environment with the other programs.
#[derive(Clone, Debug)]
pub(super) struct Environment {
    folder: PathBuf,
    scripts: PathBuf,
}

impl Environment {
    /// The environment, made if it is not there.
    pub(super) fn make() -> Result<Self, String> {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        let target = env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| manifest.join("../../target"), PathBuf::from);
        let made = Self {
            folder: target.join("peers"),
            scripts: manifest.join("peers"),
        };
        fs::create_dir_all(&made.folder).map_err(|e| format!("{}: {e}", made.folder.display()))?;
        if !made.program("python").exists() {
            println!("making an environment in {}", made.folder.display());
            done(
                Command::new("python3")
                    .args(["-m", "venv"])
                    .arg(made.folder.join("venv")),
            )?;
        }
        println!("installing {}", PACKAGES.join(", "));
        let mut pip = Command::new(made.program("python"));
        done(
            pip.args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
            ])
            .args(PACKAGES),
        )?;
        Ok(made)
    }

    /// Where it is, and what is written.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A file beside the scripts.
    fn script(&self, name: &str) -> PathBuf {
        self.scripts.join(name)
    }

    fn program(&self, name: &str) -> PathBuf {
        self.folder.join("venv/bin").join(name)
    }

    /// What a script says, line by line.
    pub(super) fn run(&self, script: &str, arguments: &[&str]) -> Result<Vec<Line>, String> {
        let text = self.output(
            Command::new(self.program("python"))
                .arg(self.script(script))
                .args(arguments),
        )?;
        // programs print words of their own between
        let lines = text.lines().filter(|line| line.starts_with('{'));
        lines
            .map(|line| serde_json::from_str(line).map_err(|e| format!("{script}: {e}: {line}")))
            .collect()
    }

    /// What a command prints.
    fn output(&self, command: &mut Command) -> Result<String, String> {
        let output = command
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .current_dir(&self.folder)
            .output();
        let output = output.map_err(|e| format!("{command:?}: {e}"))?;
        if !output.status.success() {
            return Err(format!("{command:?} ended with {}", output.status));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// Runs a command to its end.
fn done(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|e| format!("{command:?}: {e}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{command:?} ended with {status}"))
    }
}
