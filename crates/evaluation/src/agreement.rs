//! How far agents that judge agree with people.

use crate::run::results::CaseResult;
use crate::scorer::Score;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// A person's verdict on the answer of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonVerdict {
    /// The config of the result.
    pub config: String,
    /// Its case.
    pub case: String,
    /// Its repetition.
    pub repeat: u32,
    /// Whether the person likes the answer.
    pub liked: bool,
}

/// How far a judge agrees with people about the same answers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Agreement {
    /// The scorer.
    pub scorer: String,
    /// The number of people's verdicts about answers that it has judged.
    pub verdicts: usize,
    /// How many of them say the same as the judge: liked and passed, or neither.
    pub agreed: usize,
    /// Cohen's κ: the agreement beyond that by chance, 1 at most. Absent if it is undefined, since people have given the
    /// same verdict each time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kappa: Option<f64>,
    /// Where the judge says something else.
    pub disagreements: Vec<Disagreement>,
}

/// An answer of which a judge says something else than a person.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Disagreement {
    /// The case.
    pub case: String,
    /// The config whose answer it is; absent for the rated answer of the case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
    /// Whether the person likes the answer.
    pub liked: bool,
    /// The reason of the judge.
    pub reason: String,
}

impl Agreement {
    /// Returns it in words, such as "agrees with people in 17 of 20 (Cohen's κ 0.64)".
    pub fn in_words(&self) -> String {
        let kappa = match self.kappa {
            Some(kappa) => format!("Cohen's κ {kappa:.2}"),
            None => "Cohen's κ is undefined: people have given the same verdict each time".to_owned(),
        };
        format!("agrees with people in {} of {} ({kappa})", self.agreed, self.verdicts)
    }
}

impl Disagreement {
    /// Returns both verdicts in words.
    pub fn in_words(&self) -> String {
        let person = if self.liked { "liked" } else { "disliked" };
        let answer = match &self.config {
            Some(config) => format!("the answer of {config}"),
            None => "the rated answer".to_owned(),
        };
        let judge = if self.liked { "does not pass it" } else { "passes it" };
        format!("a person {person} {answer}, the judge {judge}: {}", self.reason)
    }
}

/// The verdicts of a person and of a judge on the same answer.
struct Pair<'a> {
    case: &'a str,
    config: Option<&'a str>,
    liked: bool,
    score: &'a Score,
}

/// Compares judges with people: about the rated answers of cases, and about the answers in results. Judges without a
/// verdict of a person are left out.
pub(crate) fn agreements(results: &[CaseResult], verdicts: &[PersonVerdict]) -> Vec<Agreement> {
    let mut of_results: HashMap<_, Vec<bool>> = HashMap::new();
    for PersonVerdict { config, case, repeat, liked } in verdicts {
        of_results.entry((config.as_str(), case.as_str(), *repeat)).or_default().push(*liked);
    }
    let mut pairs: BTreeMap<&str, Vec<Pair<'_>>> = BTreeMap::new();
    for result in results {
        let case = result.case.as_str();
        for rated in &result.rated {
            let pair = Pair { case, config: None, liked: rated.liked, score: &rated.score };
            pairs.entry(&rated.score.scorer).or_default().push(pair);
        }
        let known = of_results.get(&(result.config.as_str(), case, result.repeat));
        let judged = result.scores.iter().filter(|score| score.is_judged && !score.is_error);
        for (score, liked) in judged.flat_map(|score| known.into_iter().flatten().map(move |liked| (score, *liked))) {
            let pair = Pair { case, config: Some(&result.config), liked, score };
            pairs.entry(&score.scorer).or_default().push(pair);
        }
    }
    pairs.into_iter().map(|(scorer, pairs)| agreement(scorer, &pairs)).collect()
}

fn agreement(scorer: &str, pairs: &[Pair<'_>]) -> Agreement {
    let differs = |pair: &&Pair<'_>| pair.liked != pair.score.passed;
    let disagreements: Vec<_> = pairs
        .iter()
        .filter(differs)
        .map(|pair| Disagreement {
            case: pair.case.to_owned(),
            config: pair.config.map(str::to_owned),
            liked: pair.liked,
            reason: pair.score.reason.clone(),
        })
        .collect();
    let verdicts: Vec<_> = pairs.iter().map(|pair| (pair.liked, pair.score.passed)).collect();
    Agreement {
        scorer: scorer.to_owned(),
        verdicts: pairs.len(),
        agreed: pairs.len() - disagreements.len(),
        kappa: kappa(&verdicts),
        disagreements,
    }
}

/// Returns Cohen's κ of pairs of verdicts, that of a person first: (po - pe) / (1 - pe), where po is the part of equal
/// verdicts, and pe the part that would be equal by chance. `None` if people have given the same verdict each time: then
/// nothing tells whether the judge would notice the other one.
fn kappa(verdicts: &[(bool, bool)]) -> Option<f64> {
    let part = |is_counted: &dyn Fn(&(bool, bool)) -> bool| {
        verdicts.iter().filter(|verdict| is_counted(verdict)).count() as f64 / verdicts.len() as f64
    };
    let liked = verdicts.iter().filter(|(liked, _)| *liked).count();
    if liked == 0 || liked == verdicts.len() {
        return None;
    }
    let (people, judge) = (part(&|(liked, _)| *liked), part(&|(_, passed)| *passed));
    let by_chance = people.mul_add(judge, (1.0 - people) * (1.0 - judge));
    let equal = part(&|(liked, passed)| liked == passed);
    Some((equal - by_chance) / (1.0 - by_chance))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of verdicts are: liked and passed, liked and not passed, disliked and passed, neither. The results
    /// are computed by hand.
    #[test]
    fn kappa_is_the_agreement_beyond_chance() {
        let check = |[both, liked, passed, neither]: [usize; 4], expected: &str| {
            let verdicts =
                [(both, (true, true)), (liked, (true, false)), (passed, (false, true)), (neither, (false, false))];
            let verdicts: Vec<_> =
                verdicts.into_iter().flat_map(|(count, verdict)| std::iter::repeat_n(verdict, count)).collect();
            let kappa = kappa(&verdicts).map_or_else(|| "undefined".to_owned(), |kappa| format!("{kappa:.2}"));
            assert_eq!(kappa, expected, "{both} {liked} {passed} {neither}");
        };
        // po = 17/20, pe = 0.5 * 0.55 + 0.5 * 0.45 = 0.5, (0.85 - 0.5) / 0.5
        check([9, 1, 2, 8], "0.70");
        // po = 0.7, pe = 0.6 * 0.5 + 0.4 * 0.5 = 0.5, 0.2 / 0.5
        check([4, 2, 1, 3], "0.40");
        check([3, 0, 0, 2], "1.00");
        // po = 0, pe = 0.5
        check([0, 2, 2, 0], "-1.00");
        // The judge passes everything, which by chance agrees as often.
        check([3, 0, 1, 0], "0.00");
        // People like everything, whether the judge does or not.
        check([3, 1, 0, 0], "undefined");
        check([4, 0, 0, 0], "undefined");
        check([0, 0, 0, 4], "undefined");
        check([0, 0, 0, 0], "undefined");
    }
}
