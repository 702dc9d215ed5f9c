import { expect, test } from "vitest";
import { liveRegion } from "../../../../src/terminal/live/live-region.ts";
import { createPaneView, type PaneView } from "../../../../src/terminal/pane/pane-view.ts";
import { screen } from "../../../support/terminal/screen.ts";

const CWD = "/home/me/project";
const path = `${CWD}/src/components/navigation/sidebar/entry.ts`;

/** Returns the rows of a live pane in that directory. */
function rows(act: (view: PaneView) => void, width: number, height = 24): readonly string[] {
  const shown = screen();
  const size = { width: () => width, height: () => height, plain: true };
  const region = liveRegion({ out: shown.write, ...size });
  region.openInput();
  act(createPaneView({ write: region.write, region, name: "ann", cwd: CWD, ...size }));
  region.changed();
  return shown.rows();
}

test.each([
  [100, "● Edit src/components/navigation/sidebar/entry.ts · 0 s · Esc interrupts"],
  [60, "● Edit src/…/sidebar/entry.ts · 0 s · Esc interrupts"],
  [40, "● Edit entry.ts · 0 s · Esc interrupts"],
  [24, "● Edit entry.ts · Esc"],
])("the activity of a pane of %i columns › keeps the name of the file", (width, row) => {
  const shown = rows((view) => {
    view.event({ type: "turn_started", input: "" });
    view.event({ type: "tool_started", id: "1", tool: "Edit", summary: path, path });
  }, width);
  expect(shown[0]).toBe(row);
});

test.each([
  [80, /^▲ Allow this edit\? src\/components\/navigation\/sidebar\/entry\.ts$/m],
  [40, /^▲ Allow this edit\?\n +src\/components\/navigation\/sidebar\/\n +entry\.ts$/m],
])(
  "a permission request in a pane of %i columns › shows the path from the working directory",
  (width, request) => {
    const prompt = {
      id: "perm-1",
      call: "1",
      tool: "Edit",
      summary: path,
      path,
      reason: "It asks.",
      rules: [],
      change: [],
    };
    let isComplete: boolean | undefined;
    const shown = rows((view) => {
      isComplete = view.permission(prompt);
    }, width);
    expect(isComplete).toBe(true);
    expect(shown.join("\n")).toMatch(request);
  },
);

test("a truncated permission request › still names the file, and is reported as incomplete", () => {
  const long = `${CWD}/${"directory/".repeat(30)}entry.ts`;
  const change = Array.from({ length: 30 }, (_, i) => `+line ${i}`);
  const what = { tool: "Edit", summary: long, path: long, change };
  const prompt = { id: "perm-1", call: "1", reason: "", rules: [], ...what };
  let isComplete: boolean | undefined;
  const shown = rows(
    (view) => {
      isComplete = view.permission(prompt);
    },
    40,
    12,
  );
  expect(isComplete).toBe(false);
  expect(shown.join("\n")).toMatch(/…\/directory\/entry\.ts/);
});
