//! Pure mathematics on slices and counts; knows neither polars nor the domain.
