import { capacity, distribute, gridLayout } from "../../../src/backend/tmux/grid.ts";
import { layoutString } from "../../../src/tmux/layout-string.ts";
import type { Bench, Figure } from "../figure.ts";
import { sample } from "../support/samples.ts";

const PANES = 64;
const WINDOW = { width: 200, height: 50 };

/** The computation before any tmux call: the window of each pane, and the layout of each window. */
export const layouts: Bench = {
  name: "layouts",
  title: `The layout of ${PANES} panes`,
  short: true,
  async run(setup): Promise<readonly Figure[]> {
    const several = await sample(setup.amount(500, 50), () => {
      for (const count of distribute(PANES, [], WINDOW).fresh) layoutString(gridLayout(count, WINDOW));
    });
    const wall = { width: 800, height: 200 };
    const one = await sample(setup.amount(500, 50), () => layoutString(gridLayout(PANES, wall)));
    const windows = Math.ceil(PANES / capacity(WINDOW));
    return [
      {
        what: `${windows} windows of ${WINDOW.width}×${WINDOW.height}, p50`,
        value: several.median * 1000,
        unit: "µs",
      },
      { what: `one window of ${wall.width}×${wall.height}, p50`, value: one.median * 1000, unit: "µs" },
    ];
  },
};
