const UNITS: Readonly<Record<string, number>> = { "": 1, k: 1_000, m: 1_000_000 };

/** Returns the number of tokens of `500000`, `500k` or `1.5M`; undefined for any other text, and for zero. */
export function tokenAmount(text: string): number | undefined {
  const [, digits, unit = ""] = /^(\d{1,15}|\d{1,9}(?:\.\d{1,6})?(?=[kKmM]))([kKmM]?)$/.exec(text) ?? [];
  const amount = Number(digits) * (UNITS[unit.toLowerCase()] ?? Number.NaN);
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
