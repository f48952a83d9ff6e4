// A button that compares this job with another: it offers jobs of its experiment first, then others of the same name.
import type { Job } from "../api/types";
import { ChevronIcon } from "../ui/icons";
import { lazy } from "../ui/lazy";
import { Menu } from "../ui/menu";

const Offers = lazy(async () => (await import("./compare_offers")).CompareOffers, null);

export function CompareWith({ job }: { job: Job }) {
  const face = (
    <>
      Compare with…
      <ChevronIcon />
    </>
  );
  return (
    <Menu face={face} className="button compare-with">
      <Offers job={job} />
    </Menu>
  );
}
