import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { lanesOf } from "../../support/setup/lanes.ts";

it("lanesOf › puts tests that reach a costly helper, or are in a costly folder, into the sequential lane", () => {
  const root = temporaryDirectory();
  const files: Record<string, string> = {
    "test/e2e/a.test.ts": "",
    "test/integration/direct.test.ts": 'import { privateTmux } from "../support/tmux/private-tmux.ts";',
    "test/integration/through.test.ts": 'import {\n  a,\n  b,\n} from "../support/team/team.ts";',
    "test/integration/types.test.ts": 'import type { T } from "../support/tmux/private-tmux.ts";',
    "test/unit/pure.test.ts": 'import { quote } from "../../src/text/quote.ts";',
    "test/support/team/team.ts":
      'import { c } from "./team.ts";\nexport { d } from "../tmux/private-tmux.ts";',
    "test/support/tmux/private-tmux.ts": "",
  };
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  const tests = Object.keys(files).filter((file) => file.endsWith(".test.ts"));
  expect(lanesOf(root, tests)).toEqual({
    sequential: ["test/e2e/a.test.ts", "test/integration/direct.test.ts", "test/integration/through.test.ts"],
    parallel: ["test/integration/types.test.ts", "test/unit/pure.test.ts"],
  });
});
