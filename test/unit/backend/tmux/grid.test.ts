import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  capacity,
  distribute,
  gridLayout,
  MIN_LAYOUT_PANE,
  MIN_PANE,
  type PaneSize,
  stackCapacity,
} from "../../../../src/backend/tmux/grid.ts";
import { type LayoutCell, layoutString, readLayout } from "../../../../src/tmux/layout-string.ts";

describe("capacity of a window", () => {
  test.each([
    [80, 23, 2],
    [80, 24, 2],
    [200, 50, 16],
    [200, 49, 16],
    [81, 22, 4],
    [39, 50, 0],
    [40, 10, 0],
    [40, 11, 1],
  ])("capacity: %i×%i fits %i panes, including their title lines", (width, height, panes) => {
    expect(capacity({ width, height })).toBe(panes);
  });

  test.each([
    [50, 4],
    [21, 2],
    [20, 1],
    [9, 0],
  ])("stackCapacity: %i lines fit %i panes", (height, panes) => {
    expect(stackCapacity(height)).toBe(panes);
  });
});

describe("distribute", () => {
  test("fills existing windows first, then new windows one after the other", () => {
    expect(distribute(12, [], { width: 80, height: 24 })).toEqual({
      existing: [],
      fresh: [2, 2, 2, 2, 2, 2],
    });
    expect(distribute(5, [1, 0, -3, 2], { width: 80, height: 24 })).toEqual({
      existing: [1, 0, 0, 2],
      fresh: [2],
    });
    expect(distribute(3, [9], { width: 80, height: 24 })).toEqual({ existing: [3], fresh: [] });
  });

  test("puts one pane into each window that is too small for any", () => {
    expect(distribute(2, [], { width: 20, height: 5 })).toEqual({ existing: [], fresh: [1, 1] });
  });
});

describe("gridLayout", () => {
  const windows = fc.record({
    width: fc.integer({ min: 20, max: 600 }),
    height: fc.integer({ min: 8, max: 200 }),
  });

  test("fills its window exactly for any size and number of panes", () => {
    fc.assert(
      fc.property(windows, fc.integer({ min: 1, max: 8 }), (window, count) => {
        const grid = gridLayout(count, window);
        expect({ width: grid.width, height: grid.height }).toEqual(window);
        expect(panesOf(grid)).toHaveLength(count);
        checkFilled(grid);
      }),
    );
  });

  test("keeps every pane at the minimum size while the window has room", () => {
    fc.assert(
      fc.property(windows, fc.integer({ min: 1, max: 64 }), (window, count) => {
        fc.pre(count <= capacity(window));
        for (const pane of panesOf(gridLayout(count, window))) {
          expect(pane.width).toBeGreaterThanOrEqual(MIN_PANE.width);
          // The first row loses one line to the pane titles.
          expect(pane.height).toBeGreaterThanOrEqual(MIN_PANE.height);
        }
      }),
    );
  });

  test("keeps every pane at 20×5 or larger while the window has room", () => {
    fc.assert(
      fc.property(windows, fc.integer({ min: 1, max: 64 }), (window, count) => {
        fc.pre(count <= capacity(window, MIN_LAYOUT_PANE));
        for (const size of paneSizes(gridLayout(count, window))) expect(isReadable(size)).toBe(true);
      }),
    );
  });

  test("lays out one pane, two side by side, or two rows of two", () => {
    const shape = (count: number) =>
      panesOf(gridLayout(count, { width: 200, height: 50 })).map(({ width, height }) => `${width}x${height}`);
    expect(shape(1)).toEqual(["200x50"]);
    expect(shape(2)).toEqual(["100x50", "99x50"]);
    expect(shape(4)).toEqual(["100x25", "99x25", "100x24", "99x24"]);
  });
});

test("layoutString writes tmux's own format and checksum", () => {
  // Output of tmux 3.3a for a window split in three.
  const layout: LayoutCell = {
    kind: "columns",
    width: 80,
    height: 24,
    cells: [
      { kind: "pane", width: 40, height: 24 },
      {
        kind: "rows",
        width: 39,
        height: 24,
        cells: [
          { kind: "pane", width: 39, height: 12 },
          { kind: "pane", width: 39, height: 11 },
        ],
      },
    ],
  };
  expect(layoutString(layout)).toBe("d67e,80x24,0,0{40x24,0,0,0,39x24,41,0[39x12,41,0,1,39x11,41,13,2]}");
});

test("readLayout returns the size and panes of a tmux layout, and undefined for other text", () => {
  const text = "95ca,200x49,0,0{100x49,0,0,0,99x49,101,0[99x24,101,0,11,99x24,101,25,2]}";
  expect(readLayout(text)).toEqual({ width: 200, height: 49, panes: ["%0", "%11", "%2"] });
  expect(readLayout("b25d,80x24,0,0,7")).toEqual({ width: 80, height: 24, panes: ["%7"] });
  for (const other of ["", "tiled", "80x24,0,0,7", "b25d,80x24,0,0"])
    expect(readLayout(other)).toBeUndefined();
});

function panesOf(cell: LayoutCell): LayoutCell[] {
  return cell.kind === "pane" ? [cell] : cell.cells.flatMap(panesOf);
}

/** The sizes of the panes as tmux shows them: the line of titles on top belongs to the panes of the first row. */
function paneSizes(cell: LayoutCell, isTop = true): PaneSize[] {
  if (cell.kind === "pane") return [{ width: cell.width, height: cell.height - (isTop ? 1 : 0) }];
  return cell.cells.flatMap((child, i) => paneSizes(child, isTop && (cell.kind === "columns" || i === 0)));
}

function isReadable({ width, height }: PaneSize): boolean {
  return width >= 20 && height >= 5;
}

function checkFilled(cell: LayoutCell): void {
  if (cell.kind === "pane") return;
  const along = cell.kind === "columns" ? "width" : "height";
  const across = cell.kind === "columns" ? "height" : "width";
  expect(cell.cells.reduce((sum, child) => sum + child[along], cell.cells.length - 1)).toBe(cell[along]);
  for (const child of cell.cells) {
    expect(child[across]).toBe(cell[across]);
    expect(child[along]).toBeGreaterThan(0);
    checkFilled(child);
  }
}
