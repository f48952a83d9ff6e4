import { expect, it } from "vitest";
import { inOrder, orderParam, readOrder, turned, type Value } from "../src/model/order";

const usual = { key: "id", descending: true };
const keys = ["id", "name"];

it("is read from the address and written to it, the usual one as nothing", () => {
  expect(readOrder(null, keys, usual)).toEqual(usual);
  expect(readOrder("name", keys, usual)).toEqual({ key: "name", descending: false });
  expect(readOrder("-name", keys, usual)).toEqual({ key: "name", descending: true });
  expect(readOrder("loss", keys, usual)).toEqual(usual);
  expect(orderParam({ key: "name", descending: true }, usual)).toBe("-name");
  expect(orderParam(usual, usual)).toBeNull();
});

it("turns round when its column is pressed again", () => {
  expect(turned(usual, "name", false)).toEqual({ key: "name", descending: false });
  expect(turned({ key: "name", descending: false }, "name", false)).toEqual({
    key: "name",
    descending: true,
  });
});

it("puts rows without a value last, either way", () => {
  const sorted = (values: Value[], descending: boolean) => inOrder(values, (value) => value, descending);
  expect(sorted([2, null, 10, 1], false)).toEqual([1, 2, 10, null]);
  expect(sorted([2, null, 10, 1], true)).toEqual([10, 2, 1, null]);
  expect(sorted(["b", "a", "c"], false)).toEqual(["a", "b", "c"]);
  expect(inOrder([3, 1], undefined, false)).toEqual([3, 1]);
});
