import { describe, expect, it } from "vitest";
import { Player, type PlayerState } from "../../../src/casts/player.ts";
import type { Timeline, TimelineEvent } from "../../../src/casts/timeline.ts";

const EVENTS: readonly TimelineEvent[] = [
  { time: 1, code: "o", data: "one " },
  { time: 1.5, code: "m", data: "first" },
  { time: 2, code: "o", data: "two " },
  { time: 60, code: "m", data: "second" },
  { time: 61, code: "o", data: "three " },
];

function timelineOf(events: readonly TimelineEvent[]): Timeline {
  return {
    length: events.at(-1)?.time ?? 0,
    markers: events.flatMap(({ time, code, data }) => (code === "m" ? [{ time, label: data }] : [])),
    size: { columns: 80, rows: 24 },
    *events() {
      yield* events;
    },
  };
}

/** Returns a player whose clock advances only during its pauses. */
function playerOf(
  options: Partial<ConstructorParameters<typeof Player>[1]> = {},
  onPause: (player: Player, pauses: readonly number[]) => void = () => undefined,
) {
  let now = 0;
  const written: string[] = [];
  const pauses: number[] = [];
  const states: PlayerState[] = [];
  const player = new Player(timelineOf(EVENTS), {
    out: (text) => written.push(text),
    now: () => now,
    pause: async (ms, signal) => {
      pauses.push(ms);
      onPause(player, pauses);
      if (!signal.aborted) now += ms;
    },
    speed: 1,
    idleLimit: 2,
    onChange: (state) => states.push(state),
    ...options,
  });
  return { player, written, pauses, states, text: () => written.join("") };
}

describe("Player", () => {
  it("waits as long as the recording did, and shortens long pauses", async () => {
    const { player, pauses, text } = playerOf();
    await player.play();
    expect(text()).toBe("one two three ");
    expect(pauses).toEqual([1000, 500, 500, 2000, 1000]);
  });

  it("plays faster at a higher speed", async () => {
    const { player, pauses } = playerOf({ speed: 4, idleLimit: 1 });
    await player.play();
    expect(pauses).toEqual([250, 125, 125, 250, 250]);
  });

  it("starts at a marker without waiting for earlier events", async () => {
    const { player, pauses, text } = playerOf({ from: 1 });
    await player.play();
    expect(text()).toBe("one two three ");
    expect(pauses).toEqual([1000]);
  });

  it("jumps to the next marker, and writes the output in between", async () => {
    const { player, pauses, states } = playerOf({}, (one, all) => {
      if (all.length === 1) one.nextMarker();
    });
    await player.play();
    expect(states.map(({ time, label }) => [time, label])).toEqual([[1.5, "first"]]);
    expect(pauses).toEqual([1000, 500, 2000, 1000]);
  });

  it("clears the screen on a jump to the previous marker, and plays on from there", async () => {
    const { player, text, states } = playerOf({}, (one, all) => {
      // At the second marker, the previous marker is the first.
      if (all.length === 5) one.previousMarker();
    });
    await player.play();
    expect(text()).toMatch(/^one two .*\x1b\[2J\x1b\[Hone two three $/s);
    expect(states[0]).toMatchObject({ time: 1.5, label: "first" });
  });

  it("pauses until it is resumed, and then waits for the rest of the delay", async () => {
    const { player, pauses, states } = playerOf({}, (one, all) => {
      if (all.length !== 4) return;
      one.togglePause();
      queueMicrotask(() => queueMicrotask(() => queueMicrotask(() => one.togglePause())));
    });
    await player.play();
    expect(states.map(({ isPaused }) => isPaused)).toEqual([true, false]);
    expect(pauses).toEqual([1000, 500, 500, 2000, 2000, 1000]);
  });

  it("shows one output for each step, and stays paused", async () => {
    const { player, text } = playerOf({}, (one, all) => {
      if (all.length > 1) throw new Error("The player plays while it is paused.");
      one.step();
      one.step();
      setImmediate(() => one.stop());
    });
    await player.play();
    expect(text()).toBe("one two ");
  });

  it("stops at once", async () => {
    const { player, text } = playerOf({}, (one) => one.stop());
    await player.play();
    expect(text()).toBe("");
  });
});
