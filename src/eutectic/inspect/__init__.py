"""What the compiler did and what it bought: `explain`, `measure`, and what they are made of."""
