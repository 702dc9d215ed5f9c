import type { Adapter } from "./adapter-schema.ts";
import type { ChannelSetup } from "./channel.ts";

/** Returns the arguments by which a CLI gets its model and its effort; none for an option that its channel sets itself. */
export function optionArgs({
  adapter,
  model,
  effort,
}: Pick<ChannelSetup, "adapter" | "model" | "effort">): string[] {
  return [
    ...withValue(adapter.modelArgs, "{model}", model),
    ...withValue(adapter.effortArgs, "{effort}", effort),
  ];
}

function withValue(words: readonly string[] | undefined, name: string, value: string | undefined): string[] {
  // A function, because a value may contain patterns of replace, such as $&.
  return value === undefined ? [] : (words ?? []).map((word) => word.replace(name, () => value));
}

/** Returns the current permission mode, as the CLI names it; undefined if its adapter names none. */
export function ownMode({ adapter, mode }: Pick<ChannelSetup, "adapter" | "mode">): string | undefined {
  return adapter.modes[mode()] ?? adapter.modes.default;
}

/** Whether a CLI can be started with an effort. */
export function takesEffort({ efforts, effortArgs, channel }: Adapter): boolean {
  return efforts.length > 0 && (effortArgs !== undefined || channel === "app-server");
}
