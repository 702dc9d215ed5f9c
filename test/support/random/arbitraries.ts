import fc from "fast-check";

/** How many cases a property is tried with; FUZZ_SEED tries those of an earlier run again, whose failure named its seed. */
export function cases(numRuns: number): fc.Parameters<unknown> {
  const seed = Number(process.env.FUZZ_SEED);
  return Number.isInteger(seed) && seed !== 0 ? { numRuns, seed } : { numRuns };
}

/** A key of JSON. `__proto__` is none that anybody writes, and zod leaves it out. */
const key = fc.string({ maxLength: 8 }).filter((word) => word !== "__proto__");

/** Whatever JSON can say, in small. */
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

/** Not every number is one in JSON. */
function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

/** Fields that nobody of ours knows. */
export const unknownFields = fc.dictionary(
  fc.string({ maxLength: 6 }).map((word) => `x-${word}`),
  json,
  { maxKeys: 2 },
);

/** Text in which something was cut out, written over or put in. */
export function spoilt(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const rubbish = fc.oneof(
    fc.constantFrom("", "]", "}", '"', "\\", ",", "[", "{", "\0", "\ufffd"),
    fc.string({ maxLength: 8 }),
  );
  return fc.tuple(text, fc.nat(), fc.nat({ max: 9 }), rubbish).map(([whole, at, gone, put]) => {
    const from = at % (whole.length + 1);
    return whole.slice(0, from) + put + whole.slice(from + gone);
  });
}
