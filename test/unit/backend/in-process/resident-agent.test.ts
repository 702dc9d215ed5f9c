import { expect, it } from "vitest";
import { OutputLines } from "../../../../src/backend/in-process/resident-agent.ts";

it("OutputLines › keeps the output line by line, even if it arrives in pieces", () => {
  const shown = new OutputLines();
  for (const piece of ["one\ntw", "o\n", "th", "ree"]) shown.write(piece);
  expect(shown.lines()).toEqual(["one", "two", "three"]);
  expect(shown.lines(1)).toEqual(["three"]);
});

it("OutputLines › keeps only the last lines of a long output", () => {
  const shown = new OutputLines();
  shown.write("first\n");
  shown.write("x\n".repeat(200_000));
  shown.write("last");
  expect([shown.lines().length, shown.lines(2)]).toEqual([1_000, ["x", "last"]]);
});
