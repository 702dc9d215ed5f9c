import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ERROR_EXIT } from "../../src/errors.ts";

test("ERROR_EXIT › has the codes and exit statuses of the table in docs/leading-by-hand.md", () => {
  const page = readFileSync(new URL("../../docs/leading-by-hand.md", import.meta.url), "utf8");
  const named = [...page.matchAll(/^\| (\d+) \| [^|]* \|([^|]*)\|$/gm)].flatMap(([, status, codes = ""]) =>
    [...codes.matchAll(/`(\w+)`/g)].map(([, code = ""]) => [code, Number(status)] as const),
  );
  // INTERNAL is a defect of the program, which no code throws.
  expect(Object.fromEntries(named)).toEqual({ ...ERROR_EXIT, INTERNAL: 1 });
});
