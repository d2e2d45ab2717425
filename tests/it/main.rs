//! The one integration binary: linking polars is what costs, so it is linked once.

mod architecture;
mod browser;
mod site;
