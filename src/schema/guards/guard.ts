import type * as z from "zod/mini";
import { parseWithMessages } from "../zod-helpers.ts";

/**
 * True if a value from JSON has the usual form of a `T`: its schema would return an equal value. A guard needs no zod, which
 * costs a cold command a third of its time. False does not mean invalid: the schema normalises the value or reports the problem.
 */
export type Guard<T> = (value: unknown) => value is T;

/** How a saved value is read: by its guard or, if that is not enough, by its schema. */
export interface Form<T> {
  readonly guard: Guard<T>;
  /** A function, so that the built program loads zod only when it is called. */
  readonly schema: () => z.core.$ZodType<T>;
}

/** A form, or a schema of data that no cold command reads. */
export type Shape<T> = Form<T> | z.core.$ZodType<T>;

/** Returns a function that creates a schema at its first call: the module itself then needs no zod. */
export function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Parses a value from JSON, with error messages in English. */
export function parseShape<T>(shape: Shape<T>, value: unknown): z.core.util.SafeParseResult<T> {
  if (!("guard" in shape)) return parseWithMessages(shape, value);
  return shape.guard(value) ? { success: true, data: value } : parseWithMessages(shape.schema(), value);
}

/** The fields that a schema names, without the index signature of an object that keeps unknown ones. */
type Named<T> = { [K in keyof T as string extends K ? never : K]: T[K] };
interface Optional<T> {
  readonly optional: Guard<T>;
}
/** The type checker compares a table of fields with the type that its schema infers: a field of only one is an error. */
type Fields<T> = {
  readonly [K in keyof Named<T>]-?: Record<never, never> extends Pick<Named<T>, K>
    ? Optional<Exclude<Named<T>[K], undefined>>
    : Guard<Named<T>[K]>;
};

export const isText: Guard<string> = (value) => typeof value === "string";
export const isFilled: Guard<string> = (value): value is string => typeof value === "string" && value !== "";
export const isFlag: Guard<boolean> = (value) => typeof value === "boolean";
/** JSON has no other numbers, except for too large ones. */
export const isNumber: Guard<number> = (value): value is number => Number.isFinite(value);
export const isInteger: Guard<number> = (value): value is number => Number.isSafeInteger(value);
/** A positive integer. */
export const isCount: Guard<number> = (value): value is number => isInteger(value) && value > 0;
export const isTextList = listOf(isText);
/** An object with any keys. */
export const isRecord: Guard<Record<string, unknown>> = (value): value is Record<string, unknown> =>
  isObject(value) && !hasPrototypeKey(value);

export function optional<T>(guard: Guard<T>): Optional<T> {
  return { optional: guard };
}

export function listOf<T>(guard: Guard<T>): Guard<T[]> {
  return (value): value is T[] => Array.isArray(value) && value.every(guard);
}

/** Returns a guard with an additional condition that a type cannot express. */
export function allOf<T>(condition: (value: unknown) => boolean, guard: Guard<T>): Guard<T> {
  return (value): value is T => condition(value) && guard(value);
}

/** Returns a guard for a fixed set of texts. @param words its keys are the allowed texts */
export function oneOf<T extends string>(words: Readonly<Record<T, unknown>>): Guard<T> {
  return (value): value is T => typeof value === "string" && Object.hasOwn(words, value);
}

/** Returns a guard for objects that may have unknown fields too, as with `z.looseObject`. */
export function looseObject<T>(fields: Fields<T>): Guard<T> {
  return objectOf(fields, true);
}

/** Returns a guard for objects without unknown fields, which `z.object` would drop. */
export function plainObject<T>(fields: Fields<T>): Guard<T> {
  return objectOf(fields, false);
}

function objectOf<T>(fields: Fields<T>, isLoose: boolean): Guard<T> {
  const all = Object.entries(fields) as [string, Guard<unknown> | Optional<unknown>][];
  const guards = new Map(all.map(([key, one]) => [key, typeof one === "function" ? one : one.optional]));
  const required = all.filter(([, one]) => typeof one === "function").length;
  const isRequired = new Set(all.flatMap(([key, one]) => (typeof one === "function" ? key : [])));
  return (value): value is T => {
    if (!isObject(value)) return false;
    let found = 0;
    for (const key of Object.keys(value)) {
      const guard = guards.get(key);
      // A schema drops the key "__proto__", which JSON can contain.
      if (guard === undefined ? !isLoose || key === "__proto__" : !guard(value[key])) return false;
      if (isRequired.has(key)) found += 1;
    }
    return found === required;
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function hasPrototypeKey(value: object): boolean {
  return Object.hasOwn(value, "__proto__");
}
