/** The decimal places of each unit. */
const PLACES: Readonly<Record<string, number>> = { "": 0, k: 3, m: 6 };

/** Returns the number of tokens of `500000`, `500k` or `1.5M`; undefined for any other text, and for zero. */
export function tokenAmount(text: string): number | undefined {
  const [, digits, unit = ""] = /^(\d{1,15}|\d{1,9}(?:\.\d{1,6})?(?=[kKmM]))([kKmM]?)$/.exec(text) ?? [];
  // Not a product, which would be inexact: 2.01 * 1000 is not 2010.
  const amount = Number(`${digits}e${PLACES[unit.toLowerCase()]}`);
  return Number.isSafeInteger(amount) && amount > 0 ? amount : undefined;
}

/** Returns the dollars of `2.50`; undefined for any other text, and for zero. */
export function dollarAmount(text: string): number | undefined {
  const amount = /^\d{1,9}(\.\d{1,9})?$/.test(text) ? Number(text) : 0;
  return amount > 0 ? amount : undefined;
}

/** Returns a cost for a person: `$0.42`; `<$0.01` for less, empty for zero. */
export function costText(usd: number): string {
  if (usd === 0) return "";
  return usd < 0.005 ? "<$0.01" : `$${usd.toFixed(2)}`;
}
