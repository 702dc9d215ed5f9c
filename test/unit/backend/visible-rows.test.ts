import { describe, expect, test } from "vitest";
import {
  changesSince,
  type LastSeen,
  rowsFrom,
  type VisibleRows,
  visibleRowsOfScreen,
} from "../../../src/backend/visible-rows.ts";
import { seeded } from "../../support/random/seeded-random.ts";

/** A screen of three rows and a history of at most twenty rows; a read returns ten history rows. */
const [HEIGHT, LIMIT, ABOVE] = [3, 20, 10];

describe("changesSince for a screen", () => {
  test("returns every row at first, then only new and changed rows", () => {
    expect(
      watch([
        ["one", "two"],
        ["one", "two"],
        ["one", "twice", "three"],
        ["one", "twice", "three", "four", "five"],
      ]),
    ).toEqual([["one", "two"], [], ["twice", "three"], ["four", "five"]]);
  });

  test("does not return cleared rows, but keeps empty rows between new rows", () => {
    expect(
      watch([
        ["one", "two", "three"],
        ["one", "", "three"],
        ["one", "", "three", "", "five"],
      ]),
    ).toEqual([["one", "two", "three"], [], ["", "five"]]);
  });

  test("returns the end of a long burst and the number of rows left out", () => {
    const first = numbered(1, 5);
    const burst = screenOf([...first, ...numbered(6, 17)]);
    // Rows are counted by position until the history is full; 30 rows of history exceed what one read returns.
    const wide = (all: string[]): VisibleRows => ({ ...screenOf(all), maxSettled: Number.POSITIVE_INFINITY });
    const { seen } = changesSince({}, wide(first));
    expect(changesSince(seen, burst).changes).toEqual({ rows: numbered(6, 17), leftOut: 0 });
    const { changes } = changesSince(seen, wide([...first, ...numbered(6, 22)]));
    expect(changes).toEqual({ rows: numbered(10, 22), leftOut: 4 });
  });

  test("finds new rows in a full history, and reports an unknown number of lost rows", () => {
    const before = screenWithHistory(numbered(1, 18), 18);
    const { seen } = changesSince({}, before);
    expect(changesSince(seen, screenWithHistory(numbered(1, 20), 18)).changes).toEqual({
      rows: ["row 19", "row 20"],
      leftOut: 0,
    });
    expect(changesSince(seen, screenWithHistory(numbered(100, 118), 18)).changes).toEqual({
      rows: numbered(106, 118),
      leftOut: undefined,
    });
    // If the history may have been full in between, rows cannot be counted by their positions.
    const early = changesSince({}, screenOf(numbered(1, 4))).seen;
    expect(changesSince(early, screenWithHistory(numbered(100, 121), 19)).changes).toEqual({
      rows: numbered(109, 121),
      leftOut: undefined,
    });
  });

  test("returns the whole screen if the history was cleared, even if it has grown again", () => {
    const { seen } = changesSince({}, screenOf(numbered(1, 9)));
    const after = screenOf(["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]);
    expect(changesSince(seen, after).changes).toEqual({
      rows: ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"],
      leftOut: undefined,
    });
    expect(changesSince(seen, screenOf(numbered(7, 10))).changes).toEqual({ rows: ["row 10"], leftOut: 0 });
  });

  test("returns the rows that a program draws on the alternate screen, and no rows after the program leaves it", () => {
    const shell = screenOf(["$ less", "text"]);
    let { seen } = changesSince({}, shell);
    const next = (rows: string[]) => {
      const step = changesSince(seen, { ...alternate(rows) });
      seen = step.seen;
      return step.changes.rows;
    };
    expect(next(["head", "1", "2", "3", "4"])).toEqual(["head", "1", "2", "3", "4"]);
    expect(next(["head", "1", "2", "drei", "4"])).toEqual(["drei"]);
    // The program scrolls by one row.
    expect(next(["1", "2", "drei", "4", "5"])).toEqual(["5"]);
    expect(next(["x", "y"])).toEqual(["x", "y"]);
    expect(changesSince(seen, shell).changes).toEqual({ rows: [], leftOut: 0 });
  });

  test("returns each row of a long random run once, or reports that rows were left out", () => {
    const random = seeded(7);
    const tmux = scrolling();
    let seen: LastSeen = {};
    let printed: string[] = [];
    for (let read = 0; read < 400; read += 1) {
      tmux.print(random() < 0.1 ? 40 : Math.floor(random() * 6));
      const step = changesSince(seen, screenOf(tmux.rows()));
      seen = step.seen;
      const [first = 0] = step.changes.rows.map(numberOf);
      const next = printed.length === 0 ? first : numberOf(printed.at(-1)) + 1;
      if (step.changes.rows.length === 0) expect(step.changes.leftOut).toBe(0);
      else if (step.changes.leftOut === undefined) expect(first).toBeGreaterThanOrEqual(next);
      else expect(first).toBe(next + step.changes.leftOut);
      printed = [...printed, ...step.changes.rows];
    }
    expect(printed.length).toBeGreaterThan(400);
    expect(printed.at(-1)).toBe(tmux.rows().at(-1));
  });
});

describe("changesSince for a log", () => {
  test("returns the appended rows, and every row after the log was started again", () => {
    const log = (...rows: [number, string][]): VisibleRows => ({
      surface: "log",
      rows: rows.map(([at, text]) => ({ at, text })),
      settled: (rows.at(-1)?.[0] ?? 0) + (rows.at(-1)?.[1].length ?? 0) + 1,
      maxSettled: Number.POSITIVE_INFINITY,
    });
    const { seen } = changesSince({}, log([0, "one"], [4, "two"]));
    expect(changesSince(seen, log([0, "one"], [4, "two"], [8, "two"])).changes).toEqual({
      rows: ["two"],
      leftOut: 0,
    });
    expect(changesSince(seen, log([900, "far"])).changes).toEqual({ rows: ["far"], leftOut: undefined });
    expect(changesSince(seen, log([0, "new"])).changes.rows).toEqual(["new"]);
  });
});

/** Returns the changes that each of these screens shows since the previous screen. */
function watch(screens: readonly string[][]): (readonly string[])[] {
  let seen: LastSeen = {};
  return screens.map((all) => {
    const step = changesSince(seen, screenOf(all));
    seen = step.seen;
    return step.changes.rows;
  });
}

/** A screen that prints numbered rows. Like tmux, it drops the oldest tenth of a full history. */
function scrolling() {
  let rows: string[] = [];
  let next = 0;
  return {
    rows: () => rows,
    print(count: number) {
      for (let i = 0; i < count; i += 1) {
        rows = [...rows, `row ${next++}`];
        if (rows.length - HEIGHT > LIMIT) rows = rows.slice(LIMIT / 10);
      }
    },
  };
}

/** Returns a screen on which these rows were printed since its history was empty. */
function screenOf(all: readonly string[]): VisibleRows {
  return screenWithHistory(all, Math.max(0, all.length - HEIGHT));
}

function screenWithHistory(all: readonly string[], history: number): VisibleRows {
  const rows = [...all, ...Array.from({ length: HEIGHT }, () => "")].slice(
    Math.max(0, all.length - HEIGHT - ABOVE),
    Math.max(all.length, HEIGHT),
  );
  return visibleRowsOfScreen({
    ...{ rows, width: 80, height: HEIGHT, history, historyLimit: LIMIT, alternate: false },
    ...{ cursor: { x: 0, y: 0 }, mode: "", dead: false, inputOff: false, brackets: "unknown" as const },
  });
}

function alternate(rows: readonly string[]): VisibleRows {
  return { surface: "alternate", rows: rowsFrom(rows, 0), settled: 0, maxSettled: Number.POSITIVE_INFINITY };
}

function numbered(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, i) => `row ${from + i}`);
}

function numberOf(row: string | undefined): number {
  return Number(row?.slice(4));
}
