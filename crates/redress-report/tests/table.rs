//! One table, four renderings, the same cells.

use proptest::prelude::*;
use redress_report::{Align, Cell, Column, Table, Tone};

fn sample() -> Table {
    let middle = Column { title: "ok".to_owned(), align: Align::Centre };
    let mut table = Table::new([Column::text("data"), Column::number("F1"), middle]);
    table.row(["adult".into(), Cell::number(0.6364, 3).strong(), "yes".into()]);
    table.highlighted(["naïve 日本".into(), Cell::number(-12345.678, 1).tone(Tone::Bad)]);
    table.row(["a|b".into(), Cell::number(f64::NAN, 3), "no".into()]);
    table
}

#[test]
fn markdown_is_aligned_and_escaped() {
    insta::assert_snapshot!(sample().markdown(), @r"
    | data       |          F1 | ok  |
    | :--------- | ----------: | :-: |
    | adult      |   **0.636** | yes |
    | naïve 日本 | ✕ −12,345.7 |     |
    | a\|b       |           – | no  |
    ");
}

#[test]
fn text_is_aligned_and_marks_the_highlighted_row() {
    insta::assert_snapshot!(sample().text(), @r"
      data                 F1  ok
      ──────────  ───────────  ───
      adult             0.636  yes
    › naïve 日本  ✕ −12,345.7
      a|b                   –  no
    ");
}

#[test]
fn csv_holds_numbers_in_full_and_nothing_for_a_missing_one() {
    let mut table = sample();
    table.row(["say \"hi\", you".into(), Cell::count(32_561)]);
    let csv = table.csv();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(
        lines,
        ["data,F1,ok", "adult,0.6364,yes", "naïve 日本,-12345.678,", "a|b,,no", "\"say \"\"hi\"\", you\",32561,"]
    );
}

#[test]
fn a_terminal_never_gets_control_characters() {
    let mut table = Table::new([Column::text("x\u{1b}[31m")]);
    table.row(["line\nbreak\u{7}\ttab".into()]);
    for rendering in [table.text(), table.markdown()] {
        assert!(rendering.chars().all(|c| c == '\n' || !c.is_control()), "{rendering:?}");
    }
    assert!(table.text().contains("line break tab"));
}

#[test]
fn a_row_longer_than_the_heading_loses_nothing() {
    let mut table = Table::new([Column::text("a")]);
    table.row(["1".into(), "2".into(), "3".into()]);
    assert!(table.csv().ends_with("1,2,3\n"));
    assert!(table.markdown().contains('3') && table.text().contains('3'));
}

proptest! {
    /// Every Markdown line has the same number of unescaped bars: no cell can break out of its column.
    #[test]
    fn no_text_breaks_a_markdown_row(texts in prop::collection::vec("\\PC{0,12}", 3)) {
        let mut table = Table::new([Column::text("a"), Column::text("b"), Column::number("c")]);
        table.row(texts.iter().map(|text| Cell::text(text.as_str())));
        let bars = |line: &str| {
            let mut escaped = false;
            line.chars().filter(|&c| { let bar = c == '|' && !escaped; escaped = c == '\\' && !escaped; bar }).count()
        };
        let markdown = table.markdown();
        prop_assert_eq!(markdown.lines().count(), 3);
        prop_assert!(markdown.lines().all(|line| bars(line) == 4), "{}", markdown);
    }
}
