import { expect, test } from "vitest";
import { unreadableParts } from "../../support/assertions/readable-colors.ts";

test("unreadableParts › reports a bright colour only on a light terminal, even in inverse text", () => {
  const drawn = "a \x1b[38;5;226mx \x1b[7my\x1b[0m\n\x1b[30mz";
  expect(unreadableParts(drawn, "light")).toEqual([
    "x in row 1, column 3: #ffff00 on #ffffff",
    "y in row 1, column 5: #ffffff on #ffff00",
  ]);
  expect(unreadableParts(drawn, "dark")).toEqual(["z in row 2, column 1: #484f58 on #0d1117"]);
});
