//! Questions about figures, and the written answers to them.
//!
//! A figure above its threshold is a question and no rule: nothing has to be cut for a number. Somebody reads the question and
//! either changes the code or writes an answer into `answers.toml`, which holds until the figure grows past the one answered.

use serde::Deserialize;

/// A written answer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    /// The question as the test prints it.
    question: String,
    /// The highest figure for which the answer holds.
    figure: usize,
    /// The answer.
    #[serde(rename = "answer")]
    text: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answers {
    #[serde(default)]
    answer: Vec<Answer>,
}

/// Returns the questions that no answer covers, with their figures.
fn open<'q>(asked: &'q [(String, usize)], answers: &Answers) -> Vec<&'q (String, usize)> {
    let is_answered = |(question, figure): &&(String, usize)| {
        let mut of_it = answers.answer.iter().filter(|answer| answer.question == *question);
        of_it.any(|answer| answer.figure >= *figure && !answer.text.trim().is_empty())
    };
    asked.iter().filter(|asked| !is_answered(asked)).collect()
}

/// Asks questions, each with its figure. Panics with those that `answers.toml` does not answer.
pub(crate) fn ask(asked: &[(String, usize)]) {
    let answers: Answers = toml::from_str(include_str!("answers.toml")).unwrap();
    let open = open(asked, &answers);
    let list: Vec<_> = open.iter().map(|(question, figure)| format!("{question} ({figure})")).collect();
    assert!(
        open.is_empty(),
        "change the code or write an answer into {}/answers.toml:\n{}",
        "tests/house",
        list.join("\n")
    );
}

#[test]
fn an_answer_silences_its_question_until_the_figure_grows() {
    let answer = |text: &str| Answer { question: "why?".to_owned(), figure: 15, text: text.to_owned() };
    let answers = |text: &str| Answers { answer: vec![answer(text)] };
    let asked = |figure| [("why?".to_owned(), figure)];
    assert!(open(&asked(15), &answers("because")).is_empty());
    assert_eq!(open(&asked(16), &answers("because")).len(), 1);
    assert_eq!(open(&asked(15), &answers(" ")).len(), 1);
    assert_eq!(open(&[("who?".to_owned(), 1)], &answers("because")).len(), 1);
}
