// Where a value stands between two gaps. Pure.
// A line has no length there: with an event now and then, a plot of lines alone would be empty.
export function lonely(values: readonly (number | null | undefined)[]): number[] {
  const missing = (at: number) => (values[at] ?? null) === null;
  return [...values.keys()].filter((at) => !missing(at) && missing(at - 1) && missing(at + 1));
}
