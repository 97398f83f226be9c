//! From original units to the model's input and exactly back.
