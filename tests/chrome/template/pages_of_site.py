"""Articles of a site, and what a template learns from them."""

from crawler.chrome import SiteTemplate, block_hash, strip_chrome

BANNER = "Subscribe to our letter about tea, it is free of charge"
AUTHOR = (
    "Ada Green has written about tea for twenty years, has travelled through all the lands where "
    "it grows, and lives with two cats in a small house by the sea, where she keeps a garden, "
    "writes books for children, and teaches whoever asks her how a good pot is made."
)
TOPICS = ("oolong", "assam", "sencha", "matcha", "pu-erh", "ceylon", "keemun", "gyokuro")


def signed(topic: str) -> str:
    return f"{article(topic).removesuffix('</main>')}<p>{AUTHOR}</p></main><footer>Tea</footer>"


def article(topic: str, part: int = 1) -> str:
    text = " ".join(
        f"The {topic} of sort {i} is grown on hills, where rain, mist and patience make it good."
        for i in range(6)
    )
    banner = f"<div><p>{BANNER}</p><p>Every week.</p></div>"
    return f"{banner}<main><h1>{topic} {part}</h1><p>{text}</p></main>"


def learn(template: SiteTemplate, *pages: str) -> None:
    for html in pages:
        found = strip_chrome(html)
        template.observe(found.hashes(), block_hash(found.text))
