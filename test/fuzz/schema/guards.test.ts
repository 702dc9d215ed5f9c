import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import type * as z from "zod/mini";
import { configForm } from "../../../src/schema/guards/config.ts";
import { foreignForm } from "../../../src/schema/guards/foreign-record.ts";
import type { Form } from "../../../src/schema/guards/guard.ts";
import { identityForm } from "../../../src/schema/guards/identity.ts";
import { journalForm, messageForm } from "../../../src/schema/guards/inbox.ts";
import { exitForm, placeForm, statusForm } from "../../../src/schema/guards/records.ts";
import { taskForm } from "../../../src/schema/guards/task.ts";
import { parseWithMessages } from "../../../src/schema/zod-helpers.ts";
import { requestForm } from "../../../src/team/requests/requests.ts";
import { cases } from "../../support/random/arbitraries.ts";

// Many cases, possibly on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

const FORMS: Readonly<Record<string, Form<unknown>>> = {
  configForm,
  exitForm,
  foreignForm,
  identityForm,
  journalForm,
  messageForm,
  placeForm,
  requestForm,
  statusForm,
  taskForm: taskForm("7"),
};

/** Every field name of the guards' sources, so that a field that only a guard knows is tried too. */
const guards = join(import.meta.dirname, "../../../src/schema/guards");
const fieldNames = readdirSync(guards)
  .flatMap((file) => [...readFileSync(join(guards, file), "utf8").matchAll(/^\s+"?(\w+)"?: /gm)])
  .map(([, name]) => name ?? "");

const texts = ["", "x", "7", "-1", "/p", "SIGTERM", "sigterm", "2025-01-02T03:04:05Z", "1.0.0", "1.1.0"];
const others = [
  0,
  1,
  -1,
  1.5,
  2 ** 60,
  Number.POSITIVE_INFINITY,
  true,
  false,
  null,
  [],
  ["x"],
  [1],
  {},
  { x: 1 },
];
const protoKey: unknown = JSON.parse('{"__proto__": 1, "x": 2}');

interface Def {
  readonly type: string;
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>;
  readonly innerType?: z.core.$ZodType;
  readonly element?: z.core.$ZodType;
  readonly in?: z.core.$ZodType;
  readonly out?: z.core.$ZodType;
  readonly entries?: Readonly<Record<string, string>>;
}

/** Values that a schema mostly returns unchanged, each part with a small chance of being anything else. */
function valuesOf(schema: z.core.$ZodType): fc.Arbitrary<unknown> {
  const def = schema._zod.def as unknown as Def;
  if (def.innerType !== undefined) return valuesOf(def.innerType);
  const inner = def.in !== undefined && kindOf(def.in) !== "transform" ? def.in : def.out;
  if (inner !== undefined) return valuesOf(inner);
  const pool = [...texts, ...others, ...Object.values(def.entries ?? {})];
  const matching = pool.filter((value) => isUnchanged(schema, value));
  const usual =
    def.shape !== undefined
      ? objectsOf(def.shape)
      : def.element !== undefined
        ? fc.array(valuesOf(def.element), { maxLength: 2 })
        : fc.constantFrom(...(matching.length === 0 ? pool : matching));
  return fc.oneof(
    { weight: 150, arbitrary: usual },
    { weight: 1, arbitrary: fc.constantFrom(...pool, protoKey) },
  );
}

function objectsOf(shape: NonNullable<Def["shape"]>): fc.Arbitrary<unknown> {
  const fields = Object.entries(shape).map(([key, schema]) => {
    const isOptional = ["optional", "catch"].includes(kindOf(schema));
    const missing = { weight: isOptional ? 60 : 1, arbitrary: fc.constant([]) };
    return fc.oneof({ weight: 100, arbitrary: valuesOf(schema).map((value) => [[key, value]]) }, missing);
  });
  const more = fc.oneof(
    { weight: 12, arbitrary: fc.constant([]) },
    {
      weight: 4,
      arbitrary: fc
        .tuple(fc.constantFrom(...fieldNames), fc.constantFrom(...texts, ...others))
        .map(([key, value]) => (key in shape ? [] : [[key, value]])),
    },
    { weight: 1, arbitrary: fc.constant([["__proto__", 1]]) },
  );
  // From entries, so that "__proto__" is a key like any other, as in JSON.
  return fc
    .tuple(...fields, more)
    .map((entries) => Object.fromEntries(entries.flat() as [string, unknown][]));
}

function kindOf(schema: z.core.$ZodType): string {
  return schema._zod.def.type;
}

function isUnchanged(schema: z.core.$ZodType, value: unknown): boolean {
  const parsed = parseWithMessages(schema, value);
  return parsed.success && isDeepStrictEqual(parsed.data, value);
}

test.each(Object.entries(FORMS))(
  "%s › its guard accepts exactly the values that its schema returns unchanged",
  (_name, { guard, schema }) => {
    const count = { accepted: 0, refused: 0 };
    const tried = cases(8_000);
    fc.assert(
      fc.property(valuesOf(schema()), (value) => {
        const isAccepted = guard(value);
        count[isAccepted ? "accepted" : "refused"] += 1;
        expect(isAccepted).toBe(isUnchanged(schema(), value));
      }),
      tried,
    );
    // Both kinds were tried.
    expect(Math.min(count.accepted, count.refused)).toBeGreaterThan(tried.numRuns / 60);
  },
);
