//! Runs that are repeated, stopped and taken up again.

mod support;

use std::{
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use support::{Workplace, rows, table, text};

/// The same command on one thread and on two.
#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    let place = Workplace::new();
    for threads in ["1", "2"] {
        let mut command = place.command();
        command.env("RAYON_NUM_THREADS", threads).args(["train", "good.toml", "--epochs", "8", "--seed", "5", "--out"]);
        command.arg(threads).assert().success();
    }
    for file in ["model.safetensors", "certificate.json", "report.html"] {
        let [one, two] = ["1", "2"].map(|folder| std::fs::read(place.path(folder).join(file)).expect("a file"));
        assert!(one == two, "{file} differs");
    }
}

/// Begins a command that a signal will end.
fn begin(place: &Workplace, arguments: &[&str]) -> Child {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("redress"));
    command.current_dir(place.folder()).args(arguments).stdout(Stdio::null()).stderr(Stdio::piped());
    command.env("RAYON_NUM_THREADS", "1").spawn().expect("a process")
}

/// Waits until something is so, and gives up after two minutes.
fn until(what: &str, mut so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < Duration::from_secs(120), "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Whether a process handles SIGINT by now: before that the system would end it.
fn listens(child: &Child) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 0b10 != 0)
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args(["-s", name, &child.id().to_string()]).status().expect("kill");
    assert!(sent.success(), "the process was gone before {name}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_stopped_training_leaves_everything_as_it_was() {
    let place = Workplace::new();
    place.succeed(&["train", "good.toml", "--epochs", "1"]);
    let before = place.files();
    let forever = ["train", "good.toml", "--epochs", "1000000"];
    let child = begin(&place, &forever);
    until("it listens", || listens(&child));
    signal(&child, "INT");
    let output = child.wait_with_output().expect("an end");
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(text(&output.stderr), "stopped: nothing unfinished was written\n");
    assert!(place.files() == before, "after Ctrl-C");
    let child = begin(&place, &forever);
    until("it listens", || listens(&child));
    signal(&child, "KILL");
    assert_eq!(child.wait_with_output().expect("an end").status.code(), None);
    assert!(place.files() == before, "after a kill");
}

/// The seconds of processor time that a process has used.
#[cfg(target_os = "linux")]
fn processor_seconds(child: &Child) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
    // Behind the name in brackets: user and system time are fields 14 and 15, in hundredths of a second.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    fields.iter().skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0
}

#[cfg(target_os = "linux")]
#[test]
fn a_stop_is_heard_inside_an_exact_search() {
    let place = Workplace::new();
    place.succeed(&["train", "loan", "--out", "loan", "--epochs", "3"]);
    let value = |row: usize, column: usize| ((row * 7_919 + column * 104_729) % 10_007) as f64 / 1_000.0 - 5.0;
    let person =
        |row: usize| format!("male,{}", [1, 2, 3, 4, 5, 6].map(|column| value(row, column).to_string()).join(","));
    let people: Vec<String> = (0..20_000).map(person).collect();
    place.write("people.csv", format!("gender,age,education,amount,duration,income,savings\n{}\n", people.join("\n")));
    let before = place.files();
    let stop = |command: &str, out: &str, name: &str| {
        let question = [command, "loan/model.safetensors", "people.csv", "--budget", "1000000000000", "--out", out];
        let mut child = begin(&place, &question);
        until("it searches", || listens(&child) && processor_seconds(&child) > 1.0);
        assert!(child.try_wait().expect("a process").is_none(), "{command} is over before it is stopped");
        signal(&child, name);
        let begun = Instant::now();
        let output = child.wait_with_output().expect("an end");
        // Far more than it takes: this tells a stop from a search that goes on to its end.
        assert!(begun.elapsed() < Duration::from_secs(20), "{command}: {name} was not heard");
        assert_eq!(output.status.code(), Some(130), "{command}");
        assert_eq!(text(&output.stderr), "stopped: nothing unfinished was written\n", "{command}");
    };
    for name in ["INT", "TERM"] {
        stop("audit", "audited", name);
        assert!(place.files() == before, "after {name}");
    }
    stop("recourse", "answers.csv", "INT");
    assert!(!place.path("answers.csv").exists());
}

/// Rows enough for several pieces.
const MANY: usize = 200_000;

#[test]
fn answers_keep_rows_and_columns() {
    let place = Workplace::with_model();
    let question = "id;income;debt;note;job;repaid\n1;2000;4000;\"a; b\";clerk;no\n2;9000;0;;priest;yes\n3;1000;5000;x;farmer;no\n";
    place.write("people.csv", question);
    place.succeed(&["recourse", "model.safetensors", "people.csv", "--out", "answers.csv"]);
    let answers = place.read("answers.csv");
    let lines: Vec<&str> = answers.lines().collect();
    assert_eq!(lines.len(), 4, "{answers}");
    assert!(lines[0].starts_with("id,income,debt,note,job,repaid,redress_verdict"), "{}", lines[0]);
    assert!(lines[1].starts_with("1,2000,4000,a; b,clerk,no,"), "{}", lines[1]);
    assert!(lines[2].starts_with("2,9000,0,,priest,yes,approved,"), "{}", lines[2]);
    assert!(lines[3].starts_with("3,1000,5000,x,farmer,no,"), "{}", lines[3]);
    // Through Parquet and back to text: the same rows, columns and answers.
    place.succeed(&["recourse", "model.safetensors", "people.csv", "--out", "answers.parquet"]);
    place.succeed(&["recourse", "model.safetensors", "people.csv", "--out", "again.parquet"]);
    let [one, two] =
        ["answers", "again"].map(|name| std::fs::read(place.path(&format!("{name}.parquet"))).expect("a file"));
    assert!(one == two, "equal questions, equal bytes");
    let printed = place.succeed(&["recourse", "model.safetensors", "people.csv", "--format", "csv"]);
    assert_eq!(printed, answers);
    place.refuses(
        &["recourse", "model.safetensors", "answers.parquet", "--out", "more.csv"],
        "error: answers.parquet: two columns are named `redress_verdict`; rename it to keep both\n",
    );
}

#[cfg(target_os = "linux")]
#[test]
fn answers_go_on_where_they_were_stopped() {
    let place = Workplace::with_model();
    // One in eight needs a search; the others are approved at a glance.
    let easy = ["9000,0,priest,m,yes"; 7].join("\n");
    let people: Vec<String> = rows(MANY / 8).iter().map(|hard| format!("{hard}\n{easy}")).collect();
    place.write("many.csv", table(&people));
    let answer = |cost: &'static str, out: &'static str| {
        ["recourse", "model.safetensors", "many.csv", "--method", "lp", "--cost", cost, "--out", out]
    };
    // Two runs that differ in what they count as cost, each stopped after its first piece.
    for (cost, out) in [("l1", "l1.csv"), ("l2", "l2.csv")] {
        let child = begin(&place, &answer(cost, out));
        let first = place.path(&format!("{out}.parts/000000.parquet"));
        until("the first piece is there", || first.exists());
        signal(&child, "INT");
        let output = child.wait_with_output().expect("an end");
        assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
        assert!(!place.path(out).exists(), "nothing half-written under the final name");
    }
    // A piece of the one put in place of the other's shows that pieces are taken up and not made again.
    let piece = |out: &str| place.path(&format!("{out}.parts/000000.parquet"));
    std::fs::copy(piece("l2.csv"), piece("l1.csv")).expect("a copy");
    for (cost, out) in [("l1", "l1.csv"), ("l2", "l2.csv"), ("l1", "whole.csv")] {
        place.succeed(&answer(cost, out));
        assert!(!place.path(&format!("{out}.parts")).exists(), "the pieces are gone");
    }
    let [resumed, other, whole] = ["l1.csv", "l2.csv", "whole.csv"].map(|name| place.read(name));
    let count = |text: &str| text.lines().count();
    assert_eq!([count(&resumed), count(&other), count(&whole)], [MANY + 1; 3]);
    let same = resumed.lines().zip(whole.lines()).take_while(|(one, two)| one == two).count();
    assert!(same < 1_000, "the first piece is the one that was put there");
    let taken = resumed.lines().zip(other.lines()).take_while(|(one, two)| one == two).count();
    let rest = |text: &str| text.lines().skip(taken).collect::<Vec<_>>().join("\n");
    assert!((1_000..MANY).contains(&taken) && rest(&resumed) == rest(&whole), "the rest is the run's own: {taken}");
    // Another question throws the pieces of an earlier one away.
    let child = begin(&place, &answer("l2", "whole.csv"));
    until("the first piece is there", || place.path("whole.csv.parts/000000.parquet").exists());
    signal(&child, "INT");
    child.wait_with_output().expect("an end");
    place.succeed(&answer("l1", "whole.csv"));
    assert!(place.read("whole.csv") == whole, "no piece of the other question was used");
    assert!(!Path::new(&place.path("whole.csv.parts")).exists());
}
