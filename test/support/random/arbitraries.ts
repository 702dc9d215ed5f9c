import fc from "fast-check";
import { IS_FULL } from "./extent.ts";

/** Without TESTS=full, a run tries one case in this many. */
const SHARE = 10;
/** The minimum number of tried cases; fewer cases are all tried. */
const FEW = 100;

/**
 * Returns the number of cases for a property.
 * @param all the number with TESTS=full
 */
export function cases(all: number): { readonly numRuns: number } {
  return { numRuns: IS_FULL ? all : Math.max(Math.min(all, FEW), Math.ceil(all / SHARE)) };
}

/** A JSON key. `__proto__` is excluded: no program writes it, and zod drops it. */
const key = fc.string({ maxLength: 8 }).filter((word) => word !== "__proto__");

/** Any small JSON value. */
export const json: fc.Arbitrary<unknown> = fc.letrec((again) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    fc
      .oneof(fc.string({ maxLength: 12 }), fc.double(), fc.integer(), fc.boolean(), fc.constant(null))
      .map(asJson),
    fc.array(again("value"), { maxLength: 3 }),
    fc.dictionary(key, again("value"), { maxKeys: 3 }),
  ),
})).value;

/** Converts numbers that JSON cannot represent: NaN and infinities to null, -0 to 0. */
function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

/** Fields that no schema of teams contains. */
export const unknownFields = fc.dictionary(
  fc.string({ maxLength: 6 }).map((word) => `x-${word}`),
  json,
  { maxKeys: 2 },
);

/** A text with a part removed, overwritten or inserted. */
export function corrupted(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const rubbish = fc.oneof(
    fc.constantFrom("", "]", "}", '"', "\\", ",", "[", "{", "\0", "\ufffd"),
    fc.string({ maxLength: 8 }),
  );
  return fc.tuple(text, fc.nat(), fc.nat({ max: 9 }), rubbish).map(([whole, at, gone, put]) => {
    const from = at % (whole.length + 1);
    return whole.slice(0, from) + put + whole.slice(from + gone);
  });
}
