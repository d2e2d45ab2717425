//! A true rate from a judge's rate, if only the judge's error rates are known.

use super::distribution::{normal_quantile, normal_two_sided, upper_level};
use super::{Interval, Undefined};

/// Decisions of a judge about items whose truth is known, of which it got some right.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Calibration {
    /// The share of true passes that the judge passes, and their number.
    pub sensitivity: f64,
    pub passes: f64,
    /// The share of true fails that the judge fails, and their number.
    pub specificity: f64,
    pub fails: f64,
}

impl Calibration {
    /// Returns the judge's skill, sensitivity + specificity − 1, by which a difference of its rates is too small, with the standard error.
    pub fn judge_skill(self) -> (f64, f64) {
        let variance = |share: f64, n: f64| share * (1.0 - share) / n;
        let error = (variance(self.sensitivity, self.passes)
            + variance(self.specificity, self.fails))
        .sqrt();
        (self.sensitivity + self.specificity - 1.0, error)
    }

    /// Corrects a difference of two judged rates with its interval: both are divided by the skill, whose error widens the interval (delta
    /// method). It assumes that the judge errs alike about both arms. Returns also the p-value that the judge has no skill.
    pub fn correct_difference(
        self,
        value: f64,
        interval: Interval,
        confidence: f64,
    ) -> Result<(f64, Interval, f64), Undefined> {
        let z = normal_quantile(upper_level(confidence)?)?;
        let (skill, error) = self.judge_skill();
        if skill <= 0.0 {
            return Err(Undefined::NotPositive);
        }
        let own = z * value * error / skill;
        let (below, above) = (
            (value - interval.low).hypot(own) / skill,
            (interval.high - value).hypot(own) / skill,
        );
        let value = value / skill;
        let found = Interval::new(value - below, value + above).ok_or(Undefined::NotFinite)?;
        let p = if error > 0.0 {
            normal_two_sided(skill / error)
        } else {
            0.0
        };
        Ok((value.clamp(-1.0, 1.0), found.clipped_to(-1.0, 1.0), p))
    }
}

/// A true rate by the correction of Rogan and Gladen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrueRate {
    /// Not clipped: outside of 0 to 1 if the judge's rate contradicts its error rates.
    pub rate: f64,
    /// By the delta method.
    pub standard_error: f64,
    /// Of Lee and others, within 0 and 1.
    pub interval: Interval,
}

/// Corrects the share `judged` of `n` items that a judge passed (Rogan and Gladen 1978): with specificity q₀ and sensitivity q₁ it is θ =
/// (p + q₀ − 1)/(q₀ + q₁ − 1), and its variance [p(1 − p)/n + (1 − θ)²q₀(1 − q₀)/m₀ + θ²q₁(1 − q₁)/m₁]/(q₀ + q₁ − 1)².
///
/// The interval is that of Lee et al. (2025, arXiv:2511.21140): the rates are drawn towards one half (z² more items for p, two for q), and the
/// centre is shifted by 2z²[θ′q₁′(1 − q₁′)/m₁′ − (1 − θ′)q₀′(1 − q₀′)/m₀′]. Undefined for a judge no better than chance.
pub fn rogan_gladen(
    judged: f64,
    n: f64,
    known: Calibration,
    confidence: f64,
) -> Result<TrueRate, Undefined> {
    let z = normal_quantile(upper_level(confidence)?)?;
    let is_share = |share: f64| (0.0..=1.0).contains(&share);
    if !is_share(judged) || !is_share(known.sensitivity) || !is_share(known.specificity) {
        return Err(Undefined::OutOfRange);
    }
    if !(n > 0.0 && known.passes > 0.0 && known.fails > 0.0) {
        return Err(Undefined::NoData);
    }
    let (rate, error) = true_rate_and_error(judged, n, known)?;
    let z2 = z * z;
    let smooth = |share: f64, count: f64| (share * count + 1.0) / (count + 2.0);
    let smoothed = Calibration {
        sensitivity: smooth(known.sensitivity, known.passes),
        passes: known.passes + 2.0,
        specificity: smooth(known.specificity, known.fails),
        fails: known.fails + 2.0,
    };
    let (centre, reach) =
        true_rate_and_error((judged * n + z2 / 2.0) / (n + z2), n + z2, smoothed)?;
    let spread = |share: f64, count: f64| share * (1.0 - share) / count;
    let shift = 2.0
        * z2
        * (centre * spread(smoothed.sensitivity, smoothed.passes)
            - (1.0 - centre) * spread(smoothed.specificity, smoothed.fails));
    let interval = Interval::new(centre + shift - z * reach, centre + shift + z * reach)
        .ok_or(Undefined::NotFinite)?
        .clipped_to(0.0, 1.0);
    Ok(TrueRate {
        rate,
        standard_error: error,
        interval,
    })
}

fn true_rate_and_error(judged: f64, n: f64, known: Calibration) -> Result<(f64, f64), Undefined> {
    let (q0, q1) = (known.specificity, known.sensitivity);
    let skill = q0 + q1 - 1.0;
    if skill <= 0.0 {
        return Err(Undefined::NotPositive);
    }
    let rate = (judged + q0 - 1.0) / skill;
    let variance = judged * (1.0 - judged) / n
        + (1.0 - rate) * (1.0 - rate) * q0 * (1.0 - q0) / known.fails
        + rate * rate * q1 * (1.0 - q1) / known.passes;
    Ok((rate, variance.sqrt() / skill))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_the_formulas_in_numpy() {
        let vectors: serde_json::Value =
            serde_json::from_str(include_str!("../../../tests/fixtures/judges/vectors.json"))
                .expect("vectors");
        let mut tested = 0;
        for vector in vectors["binary"].as_array().expect("a list") {
            let of = |key: &str| vector["rogan_gladen"][key].as_f64();
            let Some(rate) = of("theta") else { continue };
            let number = |key: &str| of(key).expect("a number");
            let known = Calibration {
                sensitivity: number("sensitivity"),
                passes: number("m1"),
                specificity: number("specificity"),
                fails: number("m0"),
            };
            let confidence = vector["confidence"].as_f64().expect("a confidence");
            let found = rogan_gladen(number("p"), number("n"), known, confidence).expect("a rate");
            assert!(
                (found.rate - rate).abs() < 1e-9
                    && (found.standard_error - number("se")).abs() < 1e-9,
                "{found:?}"
            );
            if let Some(ends) = vector["lee"].as_array() {
                let [low, high] = [0, 1].map(|end: usize| ends[end].as_f64().expect("an end"));
                assert!(
                    (found.interval.low - low).abs() < 1e-9
                        && (found.interval.high - high).abs() < 1e-9,
                    "{found:?} {low} {high}"
                );
            }
            tested += 1;
        }
        assert!(tested >= 5, "{tested}");
    }

    #[test]
    fn a_judge_no_better_than_chance_says_nothing() {
        let known = Calibration {
            sensitivity: 0.5,
            passes: 50.0,
            specificity: 0.5,
            fails: 50.0,
        };
        assert_eq!(
            rogan_gladen(0.5, 100.0, known, 0.95),
            Err(Undefined::NotPositive)
        );
        assert_eq!(
            rogan_gladen(
                0.5,
                0.0,
                Calibration {
                    sensitivity: 0.9,
                    ..known
                },
                0.95
            ),
            Err(Undefined::NoData)
        );
    }
}
