import type { CastCode } from "./cast-format.ts";
import { type CastMarker, type CastSummary, openCast } from "./read-cast.ts";

/** An event of a timeline. */
export interface TimelineEvent {
  /** Seconds since the start of the first recording. */
  readonly time: number;
  /** `start`: another recording begins, on an empty screen. */
  readonly code: CastCode | "start";
  readonly data: string;
}

/** Recordings of one agent, one after the other. */
export interface Timeline {
  /** Seconds. */
  readonly length: number;
  /** Also the start of each recording but the first. */
  readonly markers: readonly CastMarker[];
  /** The largest size of its terminals. */
  readonly size: { readonly columns: number; readonly rows: number };
  /** Reads the recordings from their beginning. */
  events(): Generator<TimelineEvent>;
}

/** Joins the recordings of an agent's starts, in the order in which they began. */
export function timelineOf(summaries: readonly CastSummary[]): Timeline {
  const sorted = summaries.toSorted((a, b) => (a.header.timestamp ?? 0) - (b.header.timestamp ?? 0));
  const origin = sorted[0]?.header.timestamp ?? 0;
  const parts: { readonly summary: CastSummary; readonly offset: number }[] = [];
  let end = 0;
  for (const summary of sorted) {
    // Even if a clock was wrong, a recording begins after the previous one.
    const offset = Math.max(end, (summary.header.timestamp ?? origin) - origin);
    parts.push({ summary, offset: parts.length === 0 ? 0 : offset });
    end = (parts.at(-1)?.offset ?? 0) + summary.length;
  }
  const label = (index: number): string => `part ${index + 1}`;
  return {
    length: end,
    markers: parts.flatMap(({ summary, offset }, index) => [
      ...(index === 0 ? [] : [{ time: offset, label: label(index) }]),
      ...summary.markers.map((marker) => ({ ...marker, time: marker.time + offset })),
    ]),
    size: {
      columns: Math.max(0, ...sorted.map(({ header }) => header.width)),
      rows: Math.max(0, ...sorted.map(({ header }) => header.height)),
    },
    *events() {
      for (const [index, { summary, offset }] of parts.entries()) {
        if (index > 0) {
          yield { time: offset, code: "start", data: "" };
          yield { time: offset, code: "m", data: label(index) };
        }
        let time = offset;
        for (const { event } of openCast(summary.path).lines) {
          if (event === undefined || !isPlayed(event.code)) continue;
          // A file's times may run backwards; a player needs times that never decrease.
          time = Math.max(time, event.time + offset);
          yield { time, code: event.code, data: event.data };
        }
      }
    },
  };
}

function isPlayed(code: string): code is CastCode {
  return code === "o" || code === "r" || code === "m";
}
