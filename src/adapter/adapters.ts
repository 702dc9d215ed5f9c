import { requestRefusal } from "../errors.ts";
import { defined } from "../schema/defined.ts";
import { type Adapter, type AdapterInput, adapterSchema } from "./adapter-schema.ts";
import { BUILT_IN_ADAPTERS } from "./built-in-adapters.ts";

/** Returns all known adapters by name: the user's adapters replace built-in ones of the same name. @param own from `teams.adapters` */
export function knownAdapters(own: Readonly<Record<string, AdapterInput>>): ReadonlyMap<string, Adapter> {
  return new Map(
    Object.entries({ ...BUILT_IN_ADAPTERS, ...own }).map(([id, input]) => [
      id,
      { ...adapterSchema.parse(input), id },
    ]),
  );
}

/** Returns the adapter of a name. @throws TeamError INVALID_INPUT for an unknown name; the hint lists the known names */
export function findAdapter(id: string, own: Readonly<Record<string, AdapterInput>>): Adapter {
  const known = knownAdapters(own);
  const found = known.get(id);
  if (found !== undefined) return found;
  throw requestRefusal("INVALID_INPUT", `There is no CLI ${JSON.stringify(id)}`, "nothing was started", {
    hint: `Known: ${[...known.keys()].sort().join(", ")}. Others can be added under teams.adapters in settings.json.`,
  });
}

/** Returns the options that choose the same CLI without its own screen. */
export function withoutScreen(id: string): string {
  return id.endsWith("-native") ? `--cli ${id.slice(0, -"-native".length)}` : `--cli ${id} --acp`;
}

/** Returns the adapter of a program that is already running. A known adapter contributes only its keyboard settings. */
export function adoptedAdapter(id: string, own: Readonly<Record<string, AdapterInput>>): Adapter {
  const { interruptKey, prompt } = knownAdapters(own).get(id) ?? {};
  const input = { channel: "keys" as const, command: id, interruptKey, prompt };
  return { ...adapterSchema.parse(defined(input)), id };
}
